module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    tt.print "abc {hex = false, isSigned = array<i32: 1>} : %n : i32
    tt.return
  }
}
