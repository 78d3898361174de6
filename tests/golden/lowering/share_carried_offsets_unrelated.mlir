// share-carried-offsets: loop-carried offsets whose distance is not a constant stay separate phis, though the loop
// adds the same to each.
// RUN: tessera compile %s --target sm_90a --num-warps 1 --emit llir -o - | FileCheck %s
// CHECK: for:
// CHECK-COUNT-3: = phi i32
tt.func public @apart(%in: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ab = arith.addi %a, %b : i32
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %ab) -> (i32, i32) : i32 {
    %pi = tt.addptr %in, %i : !tt.ptr<i32>, i32
    %step = tt.load %pi : !tt.ptr<i32>
    %px = tt.addptr %out, %x : !tt.ptr<i32>, i32
    tt.store %px, %y : !tt.ptr<i32>
    %nx = arith.addi %x, %step : i32
    %ny = arith.addi %y, %step : i32
    scf.yield %nx, %ny : i32, i32
  }
  tt.return
}
