// triton-decompose-scaled-dot where bf16 are multiplied as f32: e2m1 are converted to f32 at once. Multiplied by scales of
// 8 bits they need no rounding and are the upper halves of these. Elsewhere they are converted to bf16.
// RUN: tessera opt %s --split-input-file -triton-decompose-scaled-dot --target gfx942 --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-decompose-scaled-dot --target sm_90a | FileCheck %s --check-prefix=BF16
// BF16: tt.e2m1_to_fp %arg0 {high = true} : tensor<16x32xi8> -> tensor<16x32xbf16>
// BF16: arith.mulf %{{.*}}, %{{.*}} : tensor<16x64xbf16>
// BF16-NOT: arith.mulf %{{.*}} : tensor<16x64xf32>

// CHECK-LABEL: @e2m1_by_e4m3
// CHECK: %[[L:.*]] = tt.e2m1_to_fp %arg0 {high = false} : tensor<16x32xi8> -> tensor<16x32xf32>
// CHECK: %[[H:.*]] = tt.e2m1_to_fp %arg0 {high = true} : tensor<16x32xi8> -> tensor<16x32xf32>
// CHECK: %[[J:.*]] = tt.join %[[L]], %[[H]] : tensor<16x32xf32> -> tensor<16x32x2xf32>
// CHECK: %[[X:.*]] = tt.reshape %[[J]] : tensor<16x32x2xf32> -> tensor<16x64xf32>
// CHECK: %[[S:.*]] = arith.extf %{{.*}} : tensor<16x64xbf16> to tensor<16x64xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[S]] : tensor<16x64xf32>
// CHECK: %[[B:.*]] = tt.bitcast %[[P]] : tensor<16x64xf32> -> tensor<16x64xi32>
// CHECK: arith.shrui %[[B]], %{{.*}} : tensor<16x64xi32>
// CHECK: arith.trunci %{{.*}} : tensor<16x64xi32> to tensor<16x64xi16>
// e4m3 times its scale may be rounded, below 2^-133.
// CHECK: tt.fp_to_fp %arg2 : tensor<64x16xf8E4M3FN> -> tensor<64x16xbf16>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<64x16xbf16>
tt.func public @e2m1_by_e4m3(%a: tensor<16x32xi8>, %s: tensor<16x2xi8>, %b: tensor<64x16xf8E4M3FN>, %t: tensor<16x2xi8>) -> tensor<16x16xf32> {
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf8E4M3FN>, tensor<16x2xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// -----

// Without a scale, and rounded: scales of more bits; beside f16.
// CHECK-LABEL: @others
// CHECK: tt.e2m1_to_fp %arg0 {high = true} : tensor<16x32xi8> -> tensor<16x32xbf16>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<64x16xf32>
// CHECK: arith.truncf %{{.*}} : tensor<64x16xf32> to tensor<64x16xbf16>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<64x16xf32>
// CHECK: arith.truncf %{{.*}} : tensor<64x16xf32> to tensor<64x16xf16>
tt.func public @others(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %s: tensor<16x4xbf16>, %t: tensor<16x2xi8>, %e: tensor<16x64xf16>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %a, %b scale %s, %c lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x32xi8> * tensor<32x16xi8>, tensor<16x4xbf16> -> tensor<16x16xf32>
  %f = tt.dot_scaled %e, %b scale %t, %c lhs = fp16 rhs = e2m1 {fastMath = false} : tensor<16x64xf16> * tensor<32x16xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
  tt.return %d, %f : tensor<16x16xf32>, tensor<16x16xf32>
}
