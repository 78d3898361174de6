module attributes {"ttg.num-warps" = 3 : i32} {
  tt.func @f() {
    tt.return
  }
}
