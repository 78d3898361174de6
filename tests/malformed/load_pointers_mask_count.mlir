module {
  tt.func public @f(%p: tensor<16x!tt.ptr<f32>>, %c: tensor<16xi1>, %v: tensor<16xf32>) {
    %0 = tt.load %p, %c, %v, %v : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
