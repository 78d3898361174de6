// Descriptor operations without a pointer form are errors.
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-descriptor-to-pointer --verify-diagnostics

tt.func public @inc(%d: !tt.tensordesc<tensor<4xi32>>, %v: tensor<4xi32>, %i: i32) {
  // expected-error @+1 {{'tt.descriptor_reduce' has no atomic operation}}
  tt.descriptor_reduce inc, %d[%i], %v : !tt.tensordesc<tensor<4xi32>>, tensor<4xi32>
  tt.return
}

// -----

tt.func public @gather(%d: !tt.tensordesc<tensor<8xf32>>, %x: tensor<4xi32>, %i: i32) -> tensor<4x8xf32> {
  // expected-error @+1 {{'tt.descriptor_gather' needs a matrix}}
  %v = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<tensor<8xf32>>, tensor<4xi32>, i32) -> tensor<4x8xf32>
  tt.return %v : tensor<4x8xf32>
}
