tt.func @f() {
  tt.return
// }
