module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.splat %n : i32 -> tensor<2x64xi32>
    %1 = tt.trans %0 {order = array<i32: 0, 0>} : tensor<2x64xi32> -> tensor<2x64xi32>
    tt.return
  }
}
