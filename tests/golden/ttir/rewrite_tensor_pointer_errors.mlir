// Block pointers that cannot be rewritten are errors.
// RUN: tessera opt %s -triton-rewrite-tensor-pointer --verify-diagnostics

tt.func public @f(%p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %a = tt.make_tensor_ptr %p, [%c1], [%c1], [%c0] {order = array<i32: 0>} : <tensor<4xf32>>
  // expected-error @+1 {{'tt.ptr_to_int' cannot use a block pointer}}
  %b = tt.ptr_to_int %a : !tt.ptr<tensor<4xf32>> -> i64
  tt.return
}
