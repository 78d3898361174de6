module {
  tt.func public @f(%x: tensor<4xf32>) {
    %0 = tt.unsplat %x : tensor<4xf32>
    tt.return
  }
}
