module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = arith.truncf %x : f32 to f64
    tt.return
  }
}
