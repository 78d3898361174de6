module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.make_range {end = 100 : i32, start = 0 : i32} : tensor<100xi32>
    tt.return
  }
}
