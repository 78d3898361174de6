// Descriptor operations without a pointer form are errors. (What the verifier refuses: tests/malformed.)
// RUN: tessera opt %s -triton-rewrite-tensor-descriptor-to-pointer --verify-diagnostics

tt.func public @inc(%d: !tt.tensordesc<tensor<4xi32>>, %v: tensor<4xi32>, %i: i32) {
  // expected-error @+1 {{'tt.descriptor_reduce' has no atomic operation}}
  tt.descriptor_reduce inc, %d[%i], %v : !tt.tensordesc<tensor<4xi32>>, tensor<4xi32>
  tt.return
}
