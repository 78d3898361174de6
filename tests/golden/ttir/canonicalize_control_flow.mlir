// canonicalize on scf.if, scf.while and cf: what is known not to run or to change nothing goes; and what must stay.
// RUN: tessera opt %s --split-input-file -canonicalize --verify-each | FileCheck %s

// CHECK-LABEL: @ifs
// CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK-NEXT: %[[S:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : i32
// CHECK-NEXT: tt.return %[[X]], %[[S]], %[[X]], %[[X]]
tt.func public @ifs(%c: i1, %x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %true = arith.constant true
  %taken = scf.if %true -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  %either = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  %same = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %x : i32
  }
  // In each region the condition is known.
  %known = scf.if %c -> (i32) {
    %a = arith.select %c, %x, %y : i32
    scf.yield %a : i32
  } else {
    %a = arith.select %c, %y, %x : i32
    scf.yield %a : i32
  }
  tt.return %taken, %either, %same, %known : i32, i32, i32, i32
}

// -----

// Effects keep both regions, results that nobody uses go, tensors are no selects.
// CHECK-LABEL: @if_stays
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (tensor<4xi32>) {
// CHECK: tt.store
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: tt.return %[[R]]
tt.func public @if_stays(%c: i1, %x: i32, %p: !tt.ptr<i32>) -> tensor<4xi32> {
  %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = tt.splat %x : i32 -> tensor<4xi32>
  %r:2 = scf.if %c -> (tensor<4xi32>, i32) {
    tt.store %p, %x : !tt.ptr<i32>
    %y = arith.addi %x, %x : i32
    scf.yield %a, %y : tensor<4xi32>, i32
  } else {
    scf.yield %b, %x : tensor<4xi32>, i32
  }
  tt.return %r#0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: @whiles
// CHECK-SAME: %[[X:.*]]: i32, %[[N:.*]]: i32
// CHECK: %[[W:.*]] = scf.while (%{{.*}} = %{{.*}}) : (i32) -> i32 {
// CHECK: arith.cmpi slt
// CHECK: scf.condition
// CHECK: ^bb0(%[[I:.*]]: i32):
// CHECK-NEXT: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : i32
// CHECK-NEXT: scf.yield %[[J]] : i32
// CHECK: tt.return %[[X]], %[[X]], %[[W]]
tt.func public @whiles(%x: i32, %n: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %false = arith.constant false
  // Its first region runs once.
  %once = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%false) %a : i32
  } do {
  ^bb0(%a: i32):
    scf.yield %a : i32
  }
  // %b never changes; in the second region the condition holds.
  %w:2 = scf.while (%i = %c0, %b = %x) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %b : i32, i32
  } do {
  ^bb0(%i: i32, %b: i32):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %b : i32, i32
  }
  tt.return %once, %w#1, %w#0 : i32, i32, i32
}

// -----

// Branches on constants, jumps to jumps, blocks with one predecessor, arguments that are the same from everywhere.
// CHECK-LABEL: @blocks
// CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK-NOT: ^bb
// CHECK: tt.return %[[X]], %[[X]]
tt.func public @blocks(%c: i1, %x: i32, %y: i32) -> (i32, i32) {
  %true = arith.constant true
  cf.cond_br %true, ^bb1, ^bb4
^bb1:
  cf.cond_br %c, ^bb2(%x : i32), ^bb3(%x, %x : i32, i32)
^bb2(%a: i32):
  cf.br ^bb3(%a, %x : i32, i32)
^bb3(%b: i32, %d: i32):
  tt.return %b, %d : i32, i32
^bb4:
  tt.return %y, %y : i32, i32
}

// -----

// A loop of blocks: %n never changes, the counter does.
// CHECK-LABEL: @block_loop
// CHECK-SAME: %[[N:.*]]: i32
// CHECK: cf.br ^bb1(%{{.*}} : i32)
// CHECK: ^bb1(%[[I:.*]]: i32):
// CHECK-NEXT: arith.cmpi slt, %[[I]], %[[N]] : i32
// CHECK: cf.cond_br
// CHECK: cf.br ^bb1(%{{[^,]*}} : i32)
tt.func public @block_loop(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^bb1(%c0, %n : i32, i32)
^bb1(%i: i32, %m: i32):
  %more = arith.cmpi slt, %i, %m : i32
  cf.cond_br %more, ^bb2, ^bb3
^bb2:
  %j = arith.addi %i, %c1 : i32
  cf.br ^bb1(%j, %m : i32, i32)
^bb3:
  tt.return %i : i32
}
