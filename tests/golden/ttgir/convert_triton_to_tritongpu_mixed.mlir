// Block pointers that become pointers make tensors without layouts in a function whose tensors have layouts: refused.
// RUN: not tessera compile %s --target gfx942 -o %t.hsaco 2>&1 | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %s0 = arith.constant 64 : i64
    %s1 = arith.constant 1 : i64
    %d = tt.make_tensor_ptr %p, [%s0, %s0], [%s0, %s1], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<32x32xf32, #blocked>>
    %x = arith.constant dense<1.0> : tensor<32x32xf32, #blocked>
    // CHECK: convert_triton_to_tritongpu_mixed.mlir:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}, but other tensors of the function have layouts
    tt.store %d, %x : !tt.ptr<tensor<32x32xf32, #blocked>>
    tt.return
  }
}
