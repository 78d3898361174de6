module {
  tt.func @f() {
  }
}
