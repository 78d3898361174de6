module {
  tt.func public @f(%x: tensor<4x4xf32>) {
    %0, %1 = tt.split %x : tensor<4x4xf32> -> tensor<4xf32>
    tt.return
  }
}
