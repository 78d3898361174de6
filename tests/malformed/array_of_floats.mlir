tt.func @f(%a: tensor<2x4xf32>) {
  %0 = tt.trans %a {order = array<i32: 1.5, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  tt.return
}
