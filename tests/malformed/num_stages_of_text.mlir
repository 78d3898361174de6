tt.func @f(%n: i32) {
  scf.for %i = %n to %n step %n : i32 {
  } {tt.num_stages = "3"}
  tt.return
}
