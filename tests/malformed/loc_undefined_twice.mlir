module {
  tt.func @f(%n: i32) {
    %x = arith.addi %n, %n : i32 loc(#loc1)
    %y = arith.addi %x, %n : i32 loc(#loc2)
    tt.return loc(#loc2)
  }
}
