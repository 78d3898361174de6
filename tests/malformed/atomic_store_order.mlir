module {
  tt.func public @f(%p: !tt.ptr<i32>, %x: i32) {
    tt.atomic_store acq_rel, gpu, %p, %x : !tt.ptr<i32>
    tt.return
  }
}
