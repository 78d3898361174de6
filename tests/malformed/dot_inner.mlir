module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.splat %x : f32 -> tensor<16x32xf32>
    %1 = tt.splat %x : f32 -> tensor<16x16xf32>
    %2 = tt.dot %0, %1, %1 : tensor<16x32xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    tt.return
  }
}
