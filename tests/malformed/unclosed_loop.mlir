#loc = loc("k.py":1:0)
module {
  tt.func @f(%n: i32) {
    %c0 = arith.constant 0 : i32
    scf.for %i = %c0 to %n step %n : i32 {
      %x = arith.addi %i, %i : i32 loc(#loc1)
    tt.return
  }
}
#loc1 = loc("k.py":2:0)
#loc2 = loc("k.py":3:0)
