module {
  tt.func public @f() {
    %0 = arith.constant dense<1> : tensor<4294967296xi32>
    tt.return
  }
}
