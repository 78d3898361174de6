module {
  tt.func public @f(%x: tensor<65536x1xi32>) {
    %0 = tt.broadcast %x : tensor<65536x1xi32> -> tensor<65536x65536xi32>
    tt.return
  }
}
