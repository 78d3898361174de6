// tritongpu-remove-layout-conversions: a slice replaces a conversion of a loop-carried value by the value itself where
// that has the wanted layout. If the slice then changes the value's layout, the conversion back stands in its place: %f
// is needed as a row in two layouts, and tt.expand_dims may use it without a conversion in one of them only.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_90a --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 2], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 2], order = [0, 1]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @row
  // CHECK: scf.for
  // CHECK: %[[F:.*]] = ttg.convert_layout %f : tensor<16xf32, #ttg.slice<{dim = 0, parent = #[[ROWS:.*]]}>> -> tensor<16xf32, #ttg.slice<{dim = 0, parent = #[[COLUMNS:.*]]}>>
  // CHECK: tt.expand_dims %[[F]] {axis = 0 : i32} : {{.*}} -> tensor<1x16xf32, #[[COLUMNS]]>
  // CHECK: tt.expand_dims %f {axis = 0 : i32} : {{.*}} -> tensor<1x16xf32, #[[ROWS]]>
  tt.func public @row(%x: !tt.ptr<f32>, %n: i32, %odd: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #blocked>
    %1 = tt.load %0 : tensor<16x16x!tt.ptr<f32>, #blocked>
    %2 = ttg.convert_layout %1 : tensor<16x16xf32, #blocked> -> tensor<16x16xf32, #blocked1>
    %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %sum = arith.addf %s, %t : f32
      tt.reduce.return %sum : f32
    }) : (tensor<16x16xf32, #blocked1>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32, #blocked1>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16xf32, #blocked2>
    %4 = ttg.convert_layout %3 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16xf32, #blocked2>
    %5:4 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %2, %b = %cst, %f = %cst_0, %g = %4) -> (tensor<16x16xf32, #blocked1>, tensor<16x16xf32, #blocked1>, tensor<16xf32, #blocked2>, tensor<16xf32, #blocked2>)  : i32 {
      %7 = ttg.convert_layout %f : tensor<16xf32, #blocked2> -> tensor<16xf32, #ttg.slice<{dim = 0, parent = #blocked3}>>
      %8 = tt.expand_dims %7 {axis = 0 : i32} : tensor<16xf32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x16xf32, #blocked3>
      %9 = tt.broadcast %8 : tensor<1x16xf32, #blocked3> -> tensor<16x16xf32, #blocked3>
      %10 = ttg.convert_layout %9 : tensor<16x16xf32, #blocked3> -> tensor<16x16xf32, #blocked1>
      %11 = arith.addf %b, %10 : tensor<16x16xf32, #blocked1>
      %12 = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16xf32, #blocked1> -> tensor<16x16xf32, #blocked4>
      %13 = ttg.convert_layout %g : tensor<16xf32, #blocked2> -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked5}>>
      %14 = tt.expand_dims %13 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked5}>> -> tensor<16x1xf32, #blocked5>
      %15 = tt.broadcast %14 : tensor<16x1xf32, #blocked5> -> tensor<16x16xf32, #blocked5>
      %16 = ttg.convert_layout %12 : tensor<16x16xf32, #blocked4> -> tensor<16x16xf32, #blocked1>
      %17 = ttg.convert_layout %15 : tensor<16x16xf32, #blocked5> -> tensor<16x16xf32, #blocked1>
      %18 = arith.subf %16, %17 : tensor<16x16xf32, #blocked1>
      %19:3 = scf.if %odd -> (tensor<16x16xf32, #blocked1>, tensor<16x16xf32, #blocked1>, tensor<16xf32, #blocked2>) {
        %20 = tt.trans %11 {order = array<i32: 1, 0>} : tensor<16x16xf32, #blocked1> -> tensor<16x16xf32, #blocked4>
        %21 = ttg.convert_layout %20 : tensor<16x16xf32, #blocked4> -> tensor<16x16xf32, #blocked1>
        scf.yield %21, %18, %g : tensor<16x16xf32, #blocked1>, tensor<16x16xf32, #blocked1>, tensor<16xf32, #blocked2>
      } else {
        %20 = "tt.reduce"(%11) <{axis = 1 : i32}> ({
        ^bb0(%s: f32, %t: f32):
          %sum = arith.addf %s, %t : f32
          tt.reduce.return %sum : f32
        }) : (tensor<16x16xf32, #blocked1>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
        %21 = ttg.convert_layout %20 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16xf32, #blocked2>
        scf.yield %11, %cst, %21 : tensor<16x16xf32, #blocked1>, tensor<16x16xf32, #blocked1>, tensor<16xf32, #blocked2>
      }
      scf.yield %19#0, %19#1, %19#2, %cst_0 : tensor<16x16xf32, #blocked1>, tensor<16x16xf32, #blocked1>, tensor<16xf32, #blocked2>, tensor<16xf32, #blocked2>
    }
    %6 = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #blocked2>
    tt.store %6, %5#2 : tensor<16x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
