module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = tt.get_program_id w : i32
    tt.return
  }
}
