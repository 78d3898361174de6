tt.func @f() {
  tt.return loc("f.py":1)
}
