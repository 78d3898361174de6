tt.func @f(%x: f32) {
  %0 = tt.fp_to_fp %x {rounding = 7 : i32} : f32 -> f8E5M2
  tt.return
}
