module attributes {"ttg.num-warps" = 4 : i32, ttg.target = 90 : i32} {
  tt.func @f() {
    tt.return
  }
}
