module {
  tt.func public @f(%x: tensor<1024xi32>, %m: tensor<256xi1>) {
    %0 = tt.histogram %x, %m : tensor<1024xi32> -> tensor<16xi32>
    tt.return
  }
}
