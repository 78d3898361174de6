module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32
    tt.return
  }
}
