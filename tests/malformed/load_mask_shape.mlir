module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %c = arith.constant true
    %1 = tt.load %0, %c : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
