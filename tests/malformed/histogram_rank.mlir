module {
  tt.func public @f(%x: tensor<64xi32>) {
    %0 = tt.histogram %x : tensor<64xi32> -> tensor<4x16xi32>
    tt.return
  }
}
