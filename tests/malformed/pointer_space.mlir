tt.func @f(%p: !tt.ptr<f32, 1000>) {
  tt.return
}
