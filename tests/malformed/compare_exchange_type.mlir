module {
  tt.func public @f(%p: !tt.ptr<i1>, %x: i1) {
    %0 = tt.atomic_cas relaxed, gpu, %p, %x, %x : (!tt.ptr<i1>, i1, i1) -> i1
    tt.return
  }
}
