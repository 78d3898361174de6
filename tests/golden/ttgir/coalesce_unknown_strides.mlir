// tritongpu-coalesce: a stride that is not known may be 1. Its dimension comes before one whose elements are known to lie
// far apart, and after one whose elements lie side by side.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s

// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
// CHECK: @far_columns
// CHECK: tt.load %{{.*}} : tensor<128x32x!tt.ptr<f16>, #[[V]]>
tt.func public @far_columns(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %s: i32) {
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %i = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %j = tt.expand_dims %1 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = tt.splat %s : i32 -> tensor<128x1xi32>
  %c8192 = arith.constant dense<8192> : tensor<1x32xi32>
  %2 = arith.muli %i, %stride : tensor<128x1xi32>
  %3 = arith.muli %j, %c8192 : tensor<1x32xi32>
  %4 = tt.broadcast %2 : tensor<128x1xi32> -> tensor<128x32xi32>
  %5 = tt.broadcast %3 : tensor<1x32xi32> -> tensor<128x32xi32>
  %6 = arith.addi %4, %5 : tensor<128x32xi32>
  %7 = tt.splat %p : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  %9 = tt.load %8 : tensor<128x32x!tt.ptr<f16>>
  %10 = tt.splat %q : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %11 = tt.addptr %10, %6 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  tt.store %11, %9 : tensor<128x32x!tt.ptr<f16>>
  tt.return
}

// -----

// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: @near_columns
// CHECK: tt.load %{{.*}} : tensor<128x32x!tt.ptr<f16>, #[[V]]>
tt.func public @near_columns(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %s: i32) {
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %i = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %j = tt.expand_dims %1 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = tt.splat %s : i32 -> tensor<128x1xi32>
  %c2 = arith.constant dense<2> : tensor<1x32xi32>
  %2 = arith.muli %i, %stride : tensor<128x1xi32>
  %3 = arith.muli %j, %c2 : tensor<1x32xi32>
  %4 = tt.broadcast %2 : tensor<128x1xi32> -> tensor<128x32xi32>
  %5 = tt.broadcast %3 : tensor<1x32xi32> -> tensor<128x32xi32>
  %6 = arith.addi %4, %5 : tensor<128x32xi32>
  %7 = tt.splat %p : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  %9 = tt.load %8 : tensor<128x32x!tt.ptr<f16>>
  %10 = tt.splat %q : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %11 = tt.addptr %10, %6 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  tt.store %11, %9 : tensor<128x32x!tt.ptr<f16>>
  tt.return
}
