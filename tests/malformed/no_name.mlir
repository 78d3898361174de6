tt.func (%a: i32) {
  tt.return
}
