module {
  tt.func public @f(%p: !tt.ptr<i1>, %x: i1, %q: !tt.ptr<f8E5M2>, %y: f8E5M2) {
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<i1>, i1) -> i1
    %1 = tt.atomic_rmw fadd, relaxed, gpu, %q, %y : (!tt.ptr<f8E5M2>, f8E5M2) -> f8E5M2
    tt.return
  }
}
