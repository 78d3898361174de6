module {
  tt.func public @f(%p: !tt.ptr<tensor<16xf32>>, %m: tensor<16xi1>) {
    %0 = tt.load %p, %m : !tt.ptr<tensor<16xf32>>
    tt.return
  }
  tt.func public @g(%p: tensor<16x!tt.ptr<f32>>) {
    %0 = tt.load %p {boundaryCheck = array<i32: 0>} : tensor<16x!tt.ptr<f32>>
    tt.return
  }
  tt.func public @h(%p: !tt.ptr<f16>, %n: i64, %i: i32) {
    %0 = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
    tt.return
  }
  tt.func public @i(%p: !tt.ptr<tensor<16xf32>>, %i: i64) {
    %0 = "tt.advance"(%p, %i) : (!tt.ptr<tensor<16xf32>>, i64) -> !tt.ptr<tensor<16xf32>>
    tt.return
  }
  tt.func public @j(%p: !tt.ptr<f32>, %x: f32) {
    %0 = tt.atomic_cas acq_rel, gpu, %p, %x, %x : (!tt.ptr<f32>, f32, f32) -> f32
    tt.return
  }
  tt.func public @k(%p: tensor<16x!tt.ptr<f32>>, %x: tensor<16xf16>) {
    tt.store %p, %x : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
