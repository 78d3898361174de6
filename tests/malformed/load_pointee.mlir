module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.load %n : i32
    tt.return
  }
}
