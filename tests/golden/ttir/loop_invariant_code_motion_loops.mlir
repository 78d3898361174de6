// loop-invariant-code-motion: kinds of loops (scf.while, unsigned counters).
// RUN: tessera opt %s --split-input-file -loop-invariant-code-motion --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-licm --verify-each | FileCheck %s

// Out of scf.while, but no division; not out of scf.if, whose regions may not run.
// CHECK-LABEL: @while
// CHECK: arith.muli
// CHECK-NEXT: scf.while
// CHECK: arith.divsi
// CHECK: scf.if
// CHECK-NEXT: arith.subi
tt.func public @while(%x: i32, %c: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %w = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %c3 : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %square = arith.muli %x, %x : i32
    %m = arith.divsi %square, %x : i32
    %k = scf.if %c -> (i32) {
      %s = arith.subi %m, %x : i32
      scf.yield %s : i32
    } else {
      scf.yield %m : i32
    }
    %o = arith.andi %k, %c3 : i32
    %p = arith.addi %i, %o : i32
    %q = arith.addi %p, %c3 : i32
    scf.yield %q : i32
  }
  tt.return %w : i32
}

// -----

// Bounds of unsigned loops are compared as unsigned numbers: from 2^32 - 1 to 1 there is no iteration, from 1 to
// 2^32 - 1 there are many.
// CHECK-LABEL: @unsigned
// CHECK-SAME: (%[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK: arith.cmpi ult, %c-1_i32, %c1_i32
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK-NEXT: arith.divsi %[[X]], %[[SAFE]]
// CHECK-NEXT: scf.for unsigned
// CHECK: arith.divsi %[[X]], %[[Y]]
// CHECK-NEXT: scf.for unsigned
tt.func public @unsigned(%x: i32, %y: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %max = arith.constant -1 : i32
  %r = scf.for unsigned %i = %max to %c1 step %c1 iter_args(%a = %c1) -> (i32) : i32 {
    %d = arith.divsi %x, %y : i32
    %v = arith.addi %a, %d : i32
    scf.yield %v : i32
  }
  %q = scf.for unsigned %i = %c1 to %max step %c1 iter_args(%a = %c1) -> (i32) : i32 {
    %d = arith.divsi %x, %y : i32
    %v = arith.addi %a, %d : i32
    scf.yield %v : i32
  }
  tt.return %r, %q : i32, i32
}
