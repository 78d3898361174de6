tt.func @f() {
  tt.return loc(#nope)
}
