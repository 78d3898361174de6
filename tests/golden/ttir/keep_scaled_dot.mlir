// triton-decompose-scaled-dot leaves what instructions with scales take; of e2m1 packed across K it makes e2m1 along K.
// RUN: tessera opt %s --split-input-file -triton-decompose-scaled-dot --target gfx950 --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-decompose-scaled-dot --target gfx942 | FileCheck %s --check-prefix=GFX942
// GFX942-NOT: tt.dot_scaled

// CHECK-LABEL: @mixed
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tt.dot_scaled %arg0 scale %arg1, %arg2, %{{.*}} lhs = e5m2 rhs = e2m1
tt.func public @mixed(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<32x16xi8>) -> tensor<16x16xf32> {
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e5m2 rhs = e2m1 {fastMath = false} : tensor<16x64xi8>, tensor<16x2xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// -----

// CHECK-LABEL: @packed_across_k
// CHECK: tt.split %{{.*}} : tensor<16x32x2xi8> -> tensor<16x32xi8>
// CHECK: %[[A:.*]] = tt.reshape %{{.*}} : tensor<16x2x32xi8> -> tensor<32x32xi8>
// CHECK: tt.split %{{.*}} : tensor<32x16x2xi8> -> tensor<32x16xi8>
// CHECK: %[[B:.*]] = tt.reshape %{{.*}} : tensor<32x16x2xi8> -> tensor<32x32xi8>
// CHECK: tt.dot_scaled %[[A]], %[[B]], %{{.*}} lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<32x32xi8> * tensor<32x32xi8>
tt.func public @packed_across_k(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>) -> tensor<32x32xf32> {
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e2m1 {fastMath = false, lhs_k_pack = false, rhs_k_pack = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// -----

// K of 32, groups of 16, scales that are floats, a side of 16 bits.
// CHECK-LABEL: @not_served
// CHECK-NOT: tt.dot_scaled
tt.func public @not_served(%a: tensor<32x32xi8>, %b: tensor<32x32xi8>, %s: tensor<32x1xi8>, %x: tensor<32x64xi8>, %y: tensor<64x32xi8>, %t: tensor<32x4xi8>, %f: tensor<32x2xf8E4M3FN>, %h: tensor<64x32xbf16>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<32x32xi8>, tensor<32x1xi8> * tensor<32x32xi8> -> tensor<32x32xf32>
  %e = tt.dot_scaled %x scale %t, %y, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<32x64xi8>, tensor<32x4xi8> * tensor<64x32xi8> -> tensor<32x32xf32>
  %g = tt.dot_scaled %x scale %f, %y, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<32x64xi8>, tensor<32x2xf8E4M3FN> * tensor<64x32xi8> -> tensor<32x32xf32>
  %i = tt.dot_scaled %x, %h, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<32x64xi8> * tensor<64x32xbf16> -> tensor<32x32xf32>
  tt.return %d, %e, %g, %i : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
