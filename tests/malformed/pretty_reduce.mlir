tt.func @f(%a: tensor<4xf32>) {
  %0 = tt.reduce %a {axis = 0 : i32} : tensor<4xf32> -> f32
  tt.return
}
