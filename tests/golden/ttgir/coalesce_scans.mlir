// tritongpu-coalesce in functions with scans. Along rows, each thread has as many elements in a row as it can move at once.
// Along columns, accesses are grouped as anywhere else: stores of f32 at 8 elements a thread would write half sectors.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s

// CHECK-DAG: #[[L:.*]] = #ttg.blocked<{sizePerThread = [1, 4], {{.*}}, order = [1, 0]}>
// CHECK: @columns
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[L]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[L]]>
tt.func public @columns(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %3 = arith.muli %1, %c64 : tensor<64x1xi32>
  %4 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x64xi32>
  %5 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %6 = arith.addi %4, %5 : tensor<64x64xi32>
  %7 = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %9 = tt.load %8 : tensor<64x64x!tt.ptr<f16>>
  %10 = arith.extf %9 : tensor<64x64xf16> to tensor<64x64xf32>
  %11 = "tt.scan"(%10) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %12 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %13 = tt.addptr %12, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %13, %11 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-DAG: #[[L:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK: @rows
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[L]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[L]]>
tt.func public @rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %3 = arith.muli %1, %c64 : tensor<64x1xi32>
  %4 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x64xi32>
  %5 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %6 = arith.addi %4, %5 : tensor<64x64xi32>
  %7 = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %9 = tt.load %8 : tensor<64x64x!tt.ptr<f16>>
  %10 = arith.extf %9 : tensor<64x64xf16> to tensor<64x64xf32>
  %11 = "tt.scan"(%10) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %12 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %13 = tt.addptr %12, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %13, %11 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
