module {
  tt.func public @f(%x: tensor<1xf32>) {
    %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      tt.map_elementwise.return %b, %a : f32, f32
    }) : (tensor<1xf32>) -> tensor<1xf32>
    tt.return
  }
}
