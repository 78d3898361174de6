tt.func @f() {
  cf.br ^
^:
  tt.return
}
