module {
  tt.func public @f(%x: tensor<4xi32>) {
    %0 = tt.reshape %x : tensor<4xi32> -> tensor<4294967296x4294967296xi32>
    tt.return
  }
}
