// sccp: constants along the paths that can be taken, through loops, branches and calls; and values that must not be taken for constants.
// RUN: tessera opt %s --split-input-file -sccp --verify-each | FileCheck %s

// The loop-carried value stays 1: the branch that would change it is never taken.
// CHECK-LABEL: @loop
// CHECK: %[[C1:.*]] = arith.constant 1 : i32
// CHECK: tt.return %[[C1]]
tt.func public @loop(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> (i32) : i32 {
    %t = arith.cmpi eq, %x, %c2 : i32
    %y = scf.if %t -> (i32) {
      scf.yield %c5 : i32
    } else {
      scf.yield %x : i32
    }
    scf.yield %y : i32
  }
  tt.return %r : i32
}

// -----

// What the loop changes is none; nor is the result of one that may not run, or the counter of one that runs more than once.
// CHECK-LABEL: @varies
// CHECK: %[[A:.*]] = scf.for
// CHECK: %[[B:.*]] = scf.for
// CHECK: %[[D:.*]] = scf.for
// CHECK: tt.return %[[A]], %[[B]], %[[D]]
tt.func public @varies(%n: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> (i32) : i32 {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> (i32) : i32 {
    scf.yield %c2 : i32
  }
  %d = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %c0) -> (i32) : i32 {
    scf.yield %i : i32
  }
  tt.return %a, %b, %d : i32, i32, i32
}

// -----

// Blocks: both ways into ^bb3 that can be taken bring 7.
// CHECK-LABEL: @blocks
// CHECK: %[[C7:.*]] = arith.constant 7 : i32
// CHECK: tt.return %[[C7]]
tt.func public @blocks(%c: i1, %x: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %false = arith.constant false
  %s = arith.addi %c3, %c4 : i32
  cf.cond_br %c, ^bb1, ^bb3(%s : i32)
^bb1:
  cf.cond_br %false, ^bb3(%x : i32), ^bb2
^bb2:
  cf.br ^bb3(%s : i32)
^bb3(%r: i32):
  tt.return %r : i32
}

// -----

// Calls of private functions: the argument is 5 from both, the other one is not.
// CHECK-LABEL: tt.func private @callee
// CHECK: %[[C6:.*]] = arith.constant 6 : i32
// CHECK: arith.muli %{{.*}}, %[[C6]]
// CHECK-LABEL: tt.func public @calls
// CHECK: tt.return %{{.*}}#0, %{{.*}}, %[[K:.*]] :
tt.func private @callee(%a: i32, %b: i32) -> (i32, i32) attributes {noinline = true} {
  %c1 = arith.constant 1 : i32
  %s = arith.addi %a, %c1 : i32
  %m = arith.muli %b, %s : i32
  tt.return %m, %s : i32, i32
}
tt.func public @calls() -> (i32, i32, i32) {
  %c5 = arith.constant 5 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0:2 = tt.call @callee(%c5, %c1) : (i32, i32) -> (i32, i32)
  %1:2 = tt.call @callee(%c5, %c2) : (i32, i32) -> (i32, i32)
  tt.return %0#0, %1#0, %0#1 : i32, i32, i32
}

// -----

// A while loop whose condition is never true, and one that leaves with what it came with.
// CHECK-LABEL: @while
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK: scf.while
// CHECK: %[[W:.*]] = scf.while
// CHECK: tt.return %[[C1]], %[[W]]
tt.func public @while(%n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = scf.while (%i = %c1) : (i32) -> i32 {
    %more = arith.cmpi eq, %i, %c2 : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j : i32
  }
  %b = scf.while (%i = %c1) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j : i32
  }
  tt.return %a, %b : i32, i32
}

// -----

// (a ^ y) ^ y folds to a, which is no operand: when more becomes known of a, here that it is not always 0, the result is
// evaluated again.
// CHECK-LABEL: @looksThrough
// CHECK: scf.if
// CHECK: %[[S:.*]] = arith.xori
// CHECK: %[[R:.*]] = arith.xori %{{.*}}, %[[S]]
// CHECK: tt.return %[[R]]
tt.func public @looksThrough(%x: i32, %y: i32, %p: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %a = scf.if %p -> (i32) {
    %t = arith.addi %x, %y : i32
    scf.yield %t : i32
  } else {
    scf.yield %c0 : i32
  }
  %s = arith.xori %a, %y : i32
  %r = arith.xori %y, %s : i32
  tt.return %r : i32
}
