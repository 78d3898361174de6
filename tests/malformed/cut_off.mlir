#loc = loc("k.py":1:0)
module {
  tt.func @f(%n: i32 loc("n"(#loc))) {
    %x = arith.addi %n, %n : i32 loc(#loc1)
    %y = arith.addi %x, %n : i32 loc(#loc2)
