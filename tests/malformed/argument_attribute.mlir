tt.func @f(%a: i32 {tt.divisibility 16}) {
  tt.return
}
