// Several sums of a thread by 32 lanes are a butterfly each on AMD, whose additions take operands from other lanes: no
// lane selects which of the sums it keeps (nvidia/reduce_halving.mlir), which would cost as much.
// RUN: tessera compile %s --target gfx1100 --emit amdgcn | FileCheck %s
// CHECK-NOT: v_cndmask
// CHECK-COUNT-16: v_add_f32_dpp
// CHECK-COUNT-4: v_permlanex16_b32
// CHECK-NOT: v_cndmask
// CHECK: s_endpgm
#rows = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %w = arith.constant dense<32> : tensor<16x1xi32, #rows>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<16x1xi32, #rows>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %rw = arith.muli %re, %w : tensor<16x1xi32, #rows>
    %rb = tt.broadcast %rw : tensor<16x1xi32, #rows> -> tensor<16x32xi32, #rows>
    %cb = tt.broadcast %ce : tensor<1x32xi32, #rows> -> tensor<16x32xi32, #rows>
    %i = arith.addi %rb, %cb : tensor<16x32xi32, #rows>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #rows>
    %a = tt.addptr %s, %i : tensor<16x32x!tt.ptr<f32>, #rows>, tensor<16x32xi32, #rows>
    %x = tt.load %a : tensor<16x32x!tt.ptr<f32>, #rows>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<16x32xf32, #rows>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    %b = tt.addptr %so, %r : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %b, %sum : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
}
