// Results that lanes divide between them are stored as vectors where warps share rows: of eight sums by four lanes each
// lane keeps two neighbours.
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s
// CHECK-COUNT-4: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1
// CHECK-NOT: shfl
// CHECK: st.shared.v2.b32
// CHECK-NOT: st.shared
// CHECK: bar.sync
#rows = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %w = arith.constant dense<16> : tensor<64x1xi32, #rows>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64x1xi32, #rows>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x16xi32, #rows>
    %rw = arith.muli %re, %w : tensor<64x1xi32, #rows>
    %rb = tt.broadcast %rw : tensor<64x1xi32, #rows> -> tensor<64x16xi32, #rows>
    %cb = tt.broadcast %ce : tensor<1x16xi32, #rows> -> tensor<64x16xi32, #rows>
    %i = arith.addi %rb, %cb : tensor<64x16xi32, #rows>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #rows>
    %a = tt.addptr %s, %i : tensor<64x16x!tt.ptr<f32>, #rows>, tensor<64x16xi32, #rows>
    %x = tt.load %a : tensor<64x16x!tt.ptr<f32>, #rows>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<64x16xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    %b = tt.addptr %so, %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %b, %sum : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
}
