tt.func @f(%p: !foo.bar<3) {
  tt.return
}
