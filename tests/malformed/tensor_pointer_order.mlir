module {
  tt.func public @f(%p: !tt.ptr<f16>, %l: i64, %i: i32) {
    %0 = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%i, %i] {order = array<i32: 0>} : <tensor<16x16xf16>>
    tt.return
  }
}
