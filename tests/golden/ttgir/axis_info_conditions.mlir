// AxisInfo: what branches and loops test holds in their bodies. In a persistent kernel over groups of tiles the tile is one
// of the group's, thus the group has tiles.
// RUN: tessera opt %s -test-print-alignment --verify-diagnostics=only-expected

tt.func public @tiles_of_groups(%first: i32, %tiles: i32, %N: i32 {tt.divisibility = 16 : i32}) {
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %n = tt.splat %N : i32 -> tensor<128xi32>
  %tile = tt.get_program_id x : i32
  %last = scf.while (%t = %tile) : (i32) -> i32 {
    %from = arith.cmpi sge, %t, %first : i32
    %end = arith.addi %first, %tiles : i32
    %below = arith.cmpi slt, %t, %end : i32
    %both = arith.andi %from, %below : i1
    scf.condition(%both) %t : i32
  } do {
  ^bb0(%t: i32):
    %inside = arith.subi %t, %first : i32
    %reversed = arith.subi %tiles, %c1 : i32
    %scaled = arith.muli %inside, %reversed : i32
    %start = arith.muli %scaled, %c128 : i32
    %splat = tt.splat %start : i32 -> tensor<128xi32>
    %rows = arith.addi %splat, %range : tensor<128xi32>
    // expected-remark @below {{contiguity = [16], divisibility = [16]}}
    %0 = arith.remsi %rows, %n : tensor<128xi32>
    %next = arith.addi %t, %c128 : i32
    scf.yield %next : i32
  }
  %beyond = arith.subi %last, %first : i32
  %start = arith.muli %beyond, %c128 : i32
  %splat = tt.splat %start : i32 -> tensor<128xi32>
  %rows = arith.addi %splat, %range : tensor<128xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1]}}
  %1 = arith.remsi %rows, %n : tensor<128xi32>
  tt.return
}
