module {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 12 : i32}) {
    tt.return
  }
}
