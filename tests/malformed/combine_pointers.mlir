module {
  tt.func public @f(%p: !tt.ptr<!tt.ptr<f32>>, %x: !tt.ptr<f32>) {
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<!tt.ptr<f32>>, !tt.ptr<f32>) -> !tt.ptr<f32>
    tt.return
  }
}
