tt.func @f(%p: tensor<4xtensor<4xf32>>) {
  tt.return
}
