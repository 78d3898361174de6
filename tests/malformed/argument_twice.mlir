tt.func @f(%a: i32, %a: i32) {
  tt.return
}
