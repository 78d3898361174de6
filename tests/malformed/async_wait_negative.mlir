module {
  tt.func public @f() {
    %0 = ttg.async_wait {num = -1 : i32}
    tt.return
  }
}
