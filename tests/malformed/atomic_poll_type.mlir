module {
  tt.func public @f(%p: !tt.ptr<i1>, %x: i1) {
    %0 = tt.atomic_poll acquire, gpu, %p, %x : !tt.ptr<i1>, i1 -> i1
    tt.return
  }
}
