tt.func @f() {
  scf.yield
}
