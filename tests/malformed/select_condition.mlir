module {
  tt.func public @f(%x: tensor<4xf32>, %c: tensor<8xi1>) {
    %0 = arith.select %c, %x, %x : tensor<8xi1>, tensor<4xf32>
    tt.return
  }
}
