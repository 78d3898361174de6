tt.func @a(%n: i32) {
  %0 = arith.addi %n, %m : i32
  tt.return
}
tt.func @b(%n: i32) {
  %0 = arith.constant 1.5 : i32
  tt.return
}
tt.func @c(%n: i32) {
  %0 = arith.addi %n, %n : f32
  tt.return
}
