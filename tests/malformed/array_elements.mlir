module {
  tt.func public @f(%x: tensor<2x4xf32>) {
    %0 = tt.trans %x {order = array<index: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
    tt.return
  }
  tt.func public @g(%x: tensor<2x4xf32>) {
    %0 = tt.trans %x {order = array<i128: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
    tt.return
  }
  tt.func public @h() {
    tt.call @() : () -> ()
    tt.return
  }
}
