tt.func @f(%a: i32) attributes {noinline = } {
  tt.return
}
