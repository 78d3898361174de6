module {
  tt.func public @f(%x: tensor<1048576xi32>) {
    %0 = tt.join %x, %x : tensor<1048576xi32> -> tensor<1048576x2xi32>
    tt.return
  }
}
