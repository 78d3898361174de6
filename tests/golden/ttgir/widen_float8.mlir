// widen-float8: arithmetic on 8-bit floats is done in f32.
// RUN: tessera opt %s -widen-float8 | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @tensors
// CHECK: %[[X:.*]] = tt.fp_to_fp %arg0 : tensor<512xf8E4M3FN, {{.*}} -> tensor<512xf32,
// CHECK: %[[Y:.*]] = tt.fp_to_fp %arg1 : tensor<512xf8E4M3FN, {{.*}} -> tensor<512xf32,
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : tensor<512xf32,
// CHECK: tt.fp_to_fp %[[S]], rounding = rtne : tensor<512xf32, {{.*}} -> tensor<512xf8E4M3FN,
// A comparison's result is no float, and a choice is none of arithmetic.
// CHECK: %[[C:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : tensor<512xf32,
// CHECK: arith.select %[[C]], %arg0, %arg1 : {{.*}}tensor<512xf8E4M3FN,
tt.func public @tensors(%a: tensor<512xf8E4M3FN, #blocked>, %b: tensor<512xf8E4M3FN, #blocked>) -> (tensor<512xf8E4M3FN, #blocked>, tensor<512xf8E4M3FN, #blocked>) {
  %s = arith.addf %a, %b : tensor<512xf8E4M3FN, #blocked>
  %c = arith.cmpf olt, %a, %b : tensor<512xf8E4M3FN, #blocked>
  %m = arith.select %c, %a, %b : tensor<512xi1, #blocked>, tensor<512xf8E4M3FN, #blocked>
  tt.return %s, %m : tensor<512xf8E4M3FN, #blocked>, tensor<512xf8E4M3FN, #blocked>
}

// In the region of a reduction too.
// CHECK-LABEL: @reduction
// CHECK: "tt.reduce"
// CHECK: ^bb0(%[[L:.*]]: f8E5M2, %[[R:.*]]: f8E5M2):
// CHECK: tt.fp_to_fp %[[L]] : f8E5M2 -> f32
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: %[[M:.*]] = tt.fp_to_fp {{.*}}, rounding = rtne : f32 -> f8E5M2
// CHECK: tt.reduce.return %[[M]] : f8E5M2
tt.func public @reduction(%a: tensor<512xf8E5M2, #blocked>) -> f8E5M2 {
  %r = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%x: f8E5M2, %y: f8E5M2):
    %m = arith.maximumf %x, %y : f8E5M2
    tt.reduce.return %m : f8E5M2
  }) : (tensor<512xf8E5M2, #blocked>) -> f8E5M2
  tt.return %r : f8E5M2
}

// CHECK-LABEL: @others
// CHECK-NOT: fp_to_fp
tt.func public @others(%a: tensor<512xf16, #blocked>) -> tensor<512xf16, #blocked> {
  %r = math.absf %a : tensor<512xf16, #blocked>
  tt.return %r : tensor<512xf16, #blocked>
}
}
