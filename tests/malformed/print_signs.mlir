module {
  tt.func public @f(%x: i32) {
    tt.print ": " {hex = false, isSigned = array<i32>} : %x : i32
    tt.return
  }
}
