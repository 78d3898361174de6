tt.func @f() {
  %0 = arith.constant dense<"0x00112233"> : tensor<4xi32>
  tt.return
}
