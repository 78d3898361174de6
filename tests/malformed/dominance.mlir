module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %c = arith.constant true
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %0 = arith.addi %n, %n : i32
    cf.br ^bb2
  ^bb2:
    %1 = arith.addi %0, %n : i32
    tt.return
  }
}
