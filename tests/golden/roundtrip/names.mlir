// SSA names: what locations name, clashes, names in sibling and nested regions, groups of results.
#loc1 = loc("x")
module {
  tt.func public @names(%x: i32 loc("x"), %x_0: i32 loc("x")) {
    %x_1 = arith.addi %x, %x_0 : i32 loc(#loc1)
    %x_2 = arith.addi %x_1, %x : i32 loc(#loc1)
    %y = arith.constant 1 : i32 loc(#loc2)
    %c1_i32 = arith.constant 1 : i32 loc(#loc)
    %c1_i32_3 = arith.constant 1 : i32 loc(#loc)
    %a_b = arith.constant 2 : i32 loc(#loc3)
    %_9 = arith.constant 2 : i32 loc(#loc4)
    %true = arith.constant true loc(#loc)
    scf.if %true {
      %x_4 = arith.constant 3 : i32 loc(#loc1)
      %z = arith.constant 3 : i32 loc(#loc5)
    } else {
      %z = arith.constant 4 : i32 loc(#loc5)
    } loc(#loc)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("y")
#loc3 = loc("a b")
#loc4 = loc("9")
#loc5 = loc("z")
