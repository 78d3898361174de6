module {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = "16"}) {
    tt.return
  }
}
