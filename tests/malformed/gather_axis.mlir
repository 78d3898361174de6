module {
  tt.func public @f(%x: tensor<64xf32>, %y: tensor<32xi32>) {
    %0 = tt.gather %x[%y] {axis = 1 : i32} : (tensor<64xf32>, tensor<32xi32>) -> tensor<32xf32>
    tt.return
  }
}
