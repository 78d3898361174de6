// triton-decompose-scaled-dot: elements and scales become bf16, or f16 where an operand is f16, and tt.dot_scaled a tt.dot.
// (tests/unit/runtime_interpreter/passes_test.cpp runs these functions.)
// RUN: tessera opt %s --split-input-file -triton-decompose-scaled-dot --verify-each | FileCheck %s

// CHECK-LABEL: @e4m3_by_bf16
// CHECK: %[[X:.*]] = tt.fp_to_fp %{{.*}} : tensor<16x64xf8E4M3FN> -> tensor<16x64xbf16>
// CHECK: %[[E:.*]] = arith.extui %{{.*}} : tensor<16x2xi8> to tensor<16x2xi16>
// CHECK: arith.shli %[[E]], %{{.*}} : tensor<16x2xi16>
// CHECK: %[[S:.*]] = tt.bitcast %{{.*}} : tensor<16x2xi16> -> tensor<16x2xbf16>
// CHECK: %[[D:.*]] = tt.expand_dims %[[S]] {axis = 2 : i32} : tensor<16x2xbf16> -> tensor<16x2x1xbf16>
// CHECK: %[[B:.*]] = tt.broadcast %[[D]] : tensor<16x2x1xbf16> -> tensor<16x2x32xbf16>
// CHECK: %[[R:.*]] = tt.reshape %[[B]] : tensor<16x2x32xbf16> -> tensor<16x64xbf16>
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[R]] : tensor<16x64xbf16>
// CHECK: tt.dot %[[P]], %arg2, %{{.*}} : tensor<16x64xbf16> * tensor<64x16xbf16> -> tensor<16x16xf32>
// CHECK-NOT: tt.dot_scaled
tt.func public @e4m3_by_bf16(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x16xbf16>) -> tensor<16x16xf32> {
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// -----

// Beside f16 the scales, whose range f16 has not, are applied in f32.
// CHECK-LABEL: @f16_by_e2m1
// CHECK: %[[L:.*]] = tt.e2m1_to_fp %arg1 {high = false} : tensor<32x16xi8> -> tensor<32x16xf16>
// CHECK: %[[U:.*]] = tt.e2m1_to_fp %arg1 {high = true} : tensor<32x16xi8> -> tensor<32x16xf16>
// CHECK: tt.join %[[L]], %[[U]] : tensor<32x16xf16> -> tensor<32x16x2xf16>
// CHECK: tt.trans %{{.*}} {order = array<i32: 0, 2, 1>} : tensor<32x16x2xf16> -> tensor<32x2x16xf16>
// CHECK: tt.reshape %{{.*}} : tensor<32x2x16xf16> -> tensor<64x16xf16>
// CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<16x64xf32> -> tensor<64x16xf32>
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<64x16xf32>
// CHECK: %[[H:.*]] = arith.truncf %[[P]] : tensor<64x16xf32> to tensor<64x16xf16>
// CHECK: tt.dot %arg0, %[[H]], %{{.*}} : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
tt.func public @f16_by_e2m1(%a: tensor<16x64xf16>, %b: tensor<32x16xi8>, %s: tensor<16x2xi8>) -> tensor<16x16xf32> {
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %a, %b scale %s, %c lhs = fp16 rhs = e2m1 {fastMath = false} : tensor<16x64xf16> * tensor<32x16xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// -----

// Packed along the outer dimensions, three dimensions, all 16 values and scales of both sides of 1.
// CHECK-LABEL: @batch_of_e2m1
// CHECK: tt.reshape %{{.*}} : tensor<2x8x2x64xbf16> -> tensor<2x16x64xbf16>
// CHECK: tt.reshape %{{.*}} : tensor<2x64x8x2xbf16> -> tensor<2x64x16xbf16>
// CHECK: tt.dot {{.*}} : tensor<2x16x64xbf16> * tensor<2x64x16xbf16> -> tensor<2x16x16xf32>
tt.func public @batch_of_e2m1(%x: tensor<2x8x64xi8>, %y: tensor<2x64x8xi8>, %p: tensor<2x16x2xi8>, %q: tensor<2x16x4xi8>) -> tensor<2x16x16xf32> {
  %seven = arith.constant dense<7> : tensor<2x16x2xi8>
  %near1 = arith.constant dense<123> : tensor<2x16x2xi8>
  %p1 = arith.andi %p, %seven : tensor<2x16x2xi8>
  %s = arith.addi %p1, %near1 : tensor<2x16x2xi8>
  %seven4 = arith.constant dense<7> : tensor<2x16x4xi8>
  %near4 = arith.constant dense<123> : tensor<2x16x4xi8>
  %q1 = arith.andi %q, %seven4 : tensor<2x16x4xi8>
  %t = arith.addi %q1, %near4 : tensor<2x16x4xi8>
  %c = arith.constant dense<1.0> : tensor<2x16x16xf32>
  %d = tt.dot_scaled %x scale %s, %y scale %t, %c lhs = e2m1 rhs = e2m1 {fastMath = false, lhs_k_pack = false, rhs_k_pack = false} : tensor<2x8x64xi8>, tensor<2x16x2xi8> * tensor<2x64x8xi8>, tensor<2x16x4xi8> -> tensor<2x16x16xf32>
  tt.return %d : tensor<2x16x16xf32>
}

// -----

// Scales that are floats, in groups of 16 (nvfp4), and no scale on the other side.
// CHECK-LABEL: @float_scales
// CHECK: tt.fp_to_fp %arg2 : tensor<16x4xf8E4M3FN> -> tensor<16x4xbf16>
tt.func public @float_scales(%x: tensor<16x32xi8>, %y: tensor<64x16xbf16>, %s: tensor<16x4xf8E4M3FN>) -> tensor<16x16xf32> {
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %x scale %s, %y, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x4xf8E4M3FN> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}
