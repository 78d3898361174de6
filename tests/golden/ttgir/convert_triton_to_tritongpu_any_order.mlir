// convert-triton-to-tritongpu: a reshape in any order keeps registers, so its result's layout must hold copies as the
// source's does. What two reductions leave is in a slice of a slice, whose lanes hold other copies, and is converted.
// RUN: tessera opt %s --split-input-file -convert-triton-to-tritongpu --target sm_90a | FileCheck %s
// RUN: tessera opt %s --split-input-file -convert-triton-to-tritongpu --target gfx942 | FileCheck %s

// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{{.*}} order = [1, 0]}>
// CHECK-LABEL: @reduced_twice(
// CHECK: %[[S:.*]] = "tt.reduce"
// CHECK: %[[SUMS:.*]] = "tt.reduce"
// CHECK: }) : ({{.*}}) -> tensor<16x2xf32, #ttg.slice<{dim = 2, parent = #ttg.slice<{dim = 1, parent
// CHECK: %[[C:.*]] = ttg.convert_layout %[[SUMS]] : {{.*}} -> tensor<16x2xf32, #[[ROWS]]>
// CHECK: tt.reshape %[[C]] allow_reorder : tensor<16x2xf32, #[[ROWS]]> -> tensor<32xf32, #
tt.func public @reduced_twice(%x: tensor<16x2x2x1xf32>, %o: !tt.ptr<f32>) {
  %s1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x2x2x1xf32>) -> tensor<16x2x1xf32>
  %s2 = "tt.reduce"(%s1) <{axis = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x2x1xf32>) -> tensor<16x2xf32>
  %f = tt.reshape %s2 allow_reorder : tensor<16x2xf32> -> tensor<32xf32>
  %s3 = "tt.reduce"(%f) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.minnumf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<32xf32>) -> f32
  tt.store %o, %s3 : !tt.ptr<f32>
  tt.return
}

// -----

// A tensor in its default layout is reshaped as it is.
// CHECK-LABEL: @whole(
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.reshape %{{.*}} allow_reorder
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.return
tt.func public @whole(%x: tensor<64x32xf32>, %o: !tt.ptr<f32>) {
  %f = tt.reshape %x allow_reorder : tensor<64x32xf32> -> tensor<2048xf32>
  %s = "tt.reduce"(%f) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.minnumf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<2048xf32>) -> f32
  tt.store %o, %s : !tt.ptr<f32>
  tt.return
}
