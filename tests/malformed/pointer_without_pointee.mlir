tt.func @f(%p: !tt.ptr<>) {
  tt.return
}
