// Block pointers and descriptors become pointers before layouts are assigned: for tensors that have some they are
// refused, and no IR is left that the verifier refuses.
// RUN: tessera opt %s --split-input-file --verify-each -triton-rewrite-tensor-pointer -triton-rewrite-tensor-descriptor-to-pointer --verify-diagnostics
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module {
  tt.func public @block_pointer(%p: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %s0 = arith.constant 64 : i64
    %s1 = arith.constant 1 : i64
    %d = tt.make_tensor_ptr %p, [%s0, %s0], [%s0, %s1], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<32x32xf32, #blocked>>
    %x = arith.constant dense<1.0> : tensor<32x32xf32, #blocked>
    // expected-error @+1 {{'tt.store' accesses a tensor that has a layout through a block pointer}}
    tt.store %d, %x : !tt.ptr<tensor<32x32xf32, #blocked>>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module {
  tt.func public @descriptor(%p: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %n = arith.constant 64 : i32
    %s0 = arith.constant 64 : i64
    %s1 = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s0, %s1] : !tt.ptr<f32>, !tt.tensordesc<tensor<32x32xf32>>
    // expected-error @+1 {{'tt.descriptor_load' accesses a tensor that has a layout through a tensor descriptor}}
    %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<32x32xf32>> -> tensor<32x32xf32, #blocked>
    tt.return
  }
}
