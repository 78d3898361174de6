module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %0 = arith.adi %n, %n : i32
    %1 = arith.addi %0, %n : i32
    %2 = arith.addi %q, %n : i32
    %3 = arith.constant 1 : f32
    tt.return
  }
}
