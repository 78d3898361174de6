// canonicalize on scf.for: loops that run never, once, or change nothing go; and what must stay.
// RUN: tessera opt %s --split-input-file -canonicalize --verify-each | FileCheck %s

// Never, and once.
// CHECK-LABEL: @trips
// CHECK-NOT: scf.for
// CHECK: %[[S:.*]] = arith.addi %[[X:.*]], %{{.*}} : i32
// CHECK-NEXT: tt.return %[[X]], %[[S]]
tt.func public @trips(%x: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %never = scf.for %i = %c3 to %c3 step %c5 iter_args(%a = %x) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  %once = scf.for %i = %c3 to %c5 step %c5 iter_args(%a = %x) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  tt.return %never, %once : i32, i32
}

// -----

// Twice stays; the extreme bounds are no single trip.
// CHECK-LABEL: @stays
// CHECK-COUNT-2: scf.for
tt.func public @stays(%x: i32) -> (i32, i64) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %low = arith.constant -9223372036854775808 : i64
  %high = arith.constant 9223372036854775807 : i64
  %step = arith.constant 9223372036854775807 : i64
  %z = arith.constant 0 : i64
  %twice = scf.for %i = %c0 to %c6 step %c3 iter_args(%a = %x) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  %far = scf.for %i = %low to %high step %step iter_args(%a = %z) -> (i64) : i64 {
    %b = arith.addi %a, %i : i64
    scf.yield %b : i64
  }
  tt.return %twice, %far : i32, i64
}

// -----

// Carried for nothing: %same never changes, %dead and %dead2 only feed each other; %live and what it needs stay.
// CHECK-LABEL: @carried
// CHECK: %[[R:.*]]:2 = scf.for %{{.*}} iter_args(%[[L:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}}) -> (i32, i32)
// CHECK-NEXT: %[[T:.*]] = arith.addi %[[L]], %[[H]] : i32
// CHECK-NEXT: %[[U:.*]] = arith.addi %[[H]], %[[X:.*]] : i32
// CHECK-NEXT: scf.yield %[[T]], %[[U]] : i32, i32
// CHECK: tt.return %[[R]]#0, %[[X]]
tt.func public @carried(%x: i32, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%live = %c0, %same = %x, %dead = %c0, %dead2 = %c1, %helper = %c1) -> (i32, i32, i32, i32, i32) : i32 {
    %a = arith.addi %live, %helper : i32
    %b = arith.addi %dead2, %i : i32
    %c = arith.muli %dead, %i : i32
    %d = arith.addi %helper, %same : i32
    scf.yield %a, %same, %b, %c, %d : i32, i32, i32, i32, i32
  }
  tt.return %r#0, %r#1 : i32, i32
}

// -----

// A loop without results and effects goes; one that stores stays, and so does a while loop: it may not end.
// CHECK-LABEL: @effects
// CHECK-COUNT-1: scf.for
// CHECK: scf.while
tt.func public @effects(%p: !tt.ptr<i32>, %n: i32, %q: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %dead = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %v = tt.load %p : !tt.ptr<i32>
    %b = arith.addi %a, %v : i32
    scf.yield %b : i32
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  %w = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j : i32
  }
  tt.return
}

// -----

// Transposed at the start of the body and back at its end: carried transposed. Not with another use, and not if the two
// are not each other's inverse.
// CHECK-LABEL: @transposed
// CHECK: %[[INIT:.*]] = tt.trans %{{.*}} : tensor<16x64xf32> -> tensor<64x16xf32>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[T:.*]] = %[[INIT]], %[[U:.*]] = %{{.*}}) -> (tensor<64x16xf32>, tensor<16x64xf32>)
// CHECK-NEXT: %[[N:.*]] = arith.mulf %[[T]], %{{.*}} : tensor<64x16xf32>
// CHECK-NEXT: %[[UT:.*]] = tt.trans %[[U]]
// CHECK: scf.yield %[[N]], %{{.*}} : tensor<64x16xf32>, tensor<16x64xf32>
// CHECK: %[[BACK:.*]] = tt.trans %[[R]]#0 {order = array<i32: 1, 0>} : tensor<64x16xf32> -> tensor<16x64xf32>
// CHECK: tt.return %[[BACK]], %[[R]]#1
// CHECK-LABEL: @turned
// CHECK: scf.for {{.*}} -> (tensor<8x8x8xf32>)
// CHECK-COUNT-2: tt.trans
// CHECK: scf.yield
tt.func public @transposed(%i: tensor<16x64xf32>, %f: tensor<64x16xf32>, %n: i32) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i, %b = %i) -> (tensor<16x64xf32>, tensor<16x64xf32>) : i32 {
    %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x64xf32> -> tensor<64x16xf32>
    %m = arith.mulf %t, %f : tensor<64x16xf32>
    %back = tt.trans %m {order = array<i32: 1, 0>} : tensor<64x16xf32> -> tensor<16x64xf32>
    %bt = tt.trans %b {order = array<i32: 1, 0>} : tensor<16x64xf32> -> tensor<64x16xf32>
    %bm = arith.mulf %bt, %f : tensor<64x16xf32>
    %bb = tt.trans %bm {order = array<i32: 1, 0>} : tensor<64x16xf32> -> tensor<16x64xf32>
    %bs = arith.addf %bb, %b : tensor<16x64xf32>
    %bst = tt.trans %bs {order = array<i32: 1, 0>} : tensor<16x64xf32> -> tensor<64x16xf32>
    %bbb = tt.trans %bst {order = array<i32: 1, 0>} : tensor<64x16xf32> -> tensor<16x64xf32>
    scf.yield %back, %bbb : tensor<16x64xf32>, tensor<16x64xf32>
  }
  tt.return %r#0, %r#1 : tensor<16x64xf32>, tensor<16x64xf32>
}
tt.func public @turned(%i: tensor<8x8x8xf32>, %n: i32) -> tensor<8x8x8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i) -> (tensor<8x8x8xf32>) : i32 {
    %t = tt.trans %a {order = array<i32: 1, 2, 0>} : tensor<8x8x8xf32> -> tensor<8x8x8xf32>
    %m = arith.mulf %t, %t : tensor<8x8x8xf32>
    %back = tt.trans %m {order = array<i32: 1, 2, 0>} : tensor<8x8x8xf32> -> tensor<8x8x8xf32>
    scf.yield %back : tensor<8x8x8xf32>
  }
  tt.return %r : tensor<8x8x8xf32>
}
