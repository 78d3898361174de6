module {
  tt.func public @empty(%d: !tt.tensordesc<0xf32>, %e: !tt.tensordesc<tensor<4x3xf16>>) {
    tt.return
  }
  tt.func public @elements(%d: !tt.tensordesc<tensor<4xnone>>) {
    tt.print "d" {hex = false, isSigned = array<i32: 0>} : %d : !tt.tensordesc<tensor<4xnone>>
    tt.return
  }
}
