module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = arith.extf %x : f32 to f16
    tt.return
  }
}
