module {
  tt.func public @f(%x: tensor<16xf32>) {
    %0 = "tt.map_elementwise"(%x) <{pack = 0 : i32}> ({
    ^bb0(%a: f32):
      tt.map_elementwise.return %a : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    tt.return
  }
}
