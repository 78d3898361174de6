// Partial results of four warps, of which each thread wants four. A costly combination is computed once for each result,
// and the results are handed out after a second barrier; a cheap one is computed by every thread.
// RUN: tessera compile %s --kernel costly --target sm_90a --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --kernel cheap --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=CHEAP

// CHECK-LABEL: .entry costly(
// CHECK: st.shared
// CHECK: bar.sync
// CHECK-COUNT-3: div.full.f32
// CHECK-NOT: div.full.f32
// CHECK: st.shared
// CHECK: bar.sync
// CHECK-NOT: div.full.f32
// CHECK: st.global

// CHEAP-LABEL: .entry cheap(
// CHEAP: st.shared
// CHEAP: bar.sync
// CHEAP-NOT: bar.sync
// CHEAP: st.global
#rows = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @costly(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<8x1xi32, #rows>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %r2 = tt.broadcast %r1 : tensor<8x1xi32, #rows> -> tensor<8x64xi32, #rows>
    %c2 = tt.broadcast %c1 : tensor<1x64xi32, #rows> -> tensor<8x64xi32, #rows>
    %eight = arith.constant dense<8> : tensor<8x64xi32, #rows>
    %c3 = arith.muli %c2, %eight : tensor<8x64xi32, #rows>
    %o = arith.addi %r2, %c3 : tensor<8x64xi32, #rows>
    %p = tt.splat %in : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>, #rows>
    %x = tt.addptr %p, %o : tensor<8x64x!tt.ptr<f32>, #rows>, tensor<8x64xi32, #rows>
    %q = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    %y = tt.addptr %q, %r : tensor<8x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %v = tt.load %x : tensor<8x64x!tt.ptr<f32>, #rows>
    %one = arith.constant dense<1.0> : tensor<8x64xf32, #rows>
    %m:2 = "tt.reduce"(%v, %one) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %na: f32, %b: f32, %nb: f32):
      %n = arith.addf %na, %nb : f32
      %d = arith.subf %b, %a : f32
      %ratio = arith.divf %nb, %n : f32
      %s = arith.mulf %d, %ratio : f32
      %t = arith.addf %a, %s : f32
      tt.reduce.return %t, %n : f32, f32
    }) : (tensor<8x64xf32, #rows>, tensor<8x64xf32, #rows>) -> (tensor<8xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<8xf32, #ttg.slice<{dim = 1, parent = #rows}>>)
    tt.store %y, %m#0 : tensor<8x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
  tt.func public @cheap(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<8x1xi32, #rows>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %r2 = tt.broadcast %r1 : tensor<8x1xi32, #rows> -> tensor<8x64xi32, #rows>
    %c2 = tt.broadcast %c1 : tensor<1x64xi32, #rows> -> tensor<8x64xi32, #rows>
    %eight = arith.constant dense<8> : tensor<8x64xi32, #rows>
    %c3 = arith.muli %c2, %eight : tensor<8x64xi32, #rows>
    %o = arith.addi %r2, %c3 : tensor<8x64xi32, #rows>
    %p = tt.splat %in : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>, #rows>
    %x = tt.addptr %p, %o : tensor<8x64x!tt.ptr<f32>, #rows>, tensor<8x64xi32, #rows>
    %q = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    %y = tt.addptr %q, %r : tensor<8x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %v = tt.load %x : tensor<8x64x!tt.ptr<f32>, #rows>
    %m = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.reduce.return %t : f32
    }) : (tensor<8x64xf32, #rows>) -> tensor<8xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %y, %m : tensor<8x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
}
