// tritongpu-coalesce: the load of a dot's operand takes the order of its local strides even against a store of the same
// shape that is proved to run along the other dimension. Only the dot's result flows from one to the other.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce | FileCheck %s

// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[COLUMNS:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
// CHECK: tt.load %{{.*}} : tensor<64x16x!tt.ptr<f32>, #[[COLUMNS]]>
// CHECK: tt.store %{{.*}} : tensor<64x16x!tt.ptr<f32>, #[[ROWS]]>
tt.func public @operand(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %x = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r = tt.expand_dims %1 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %c49 = arith.constant dense<49> : tensor<64x1xi32>
  %c8 = arith.constant dense<16> : tensor<64x1xi32>
  %c7203 = arith.constant dense<7203> : tensor<1x16xi32>
  %2 = arith.remsi %x, %c49 : tensor<64x1xi32>
  %3 = arith.muli %r, %c7203 : tensor<1x16xi32>
  %4 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x16xi32>
  %5 = tt.broadcast %3 : tensor<1x16xi32> -> tensor<64x16xi32>
  %6 = arith.addi %4, %5 : tensor<64x16xi32>
  %7 = tt.splat %p : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
  %8 = tt.addptr %7, %6 : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  %9 = tt.load %8 : tensor<64x16x!tt.ptr<f32>>
  %b = arith.constant dense<1.000000e+00> : tensor<16x16xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
  %d = tt.dot %9, %b, %zero : tensor<64x16xf32> * tensor<16x16xf32> -> tensor<64x16xf32>
  %10 = arith.muli %x, %c8 : tensor<64x1xi32>
  %11 = tt.broadcast %10 : tensor<64x1xi32> -> tensor<64x16xi32>
  %12 = tt.broadcast %r : tensor<1x16xi32> -> tensor<64x16xi32>
  %13 = arith.addi %11, %12 : tensor<64x16xi32>
  %14 = tt.splat %q : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
  %15 = tt.addptr %14, %13 : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  tt.store %15, %d : tensor<64x16x!tt.ptr<f32>>
  tt.return
}
