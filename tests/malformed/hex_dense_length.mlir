tt.func @f() {
  %0 = arith.constant dense<"0x001122"> : tensor<4xi32>
  tt.return
}
