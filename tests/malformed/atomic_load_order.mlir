module {
  tt.func public @f(%p: !tt.ptr<i32>) {
    %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
    tt.return
  }
}
