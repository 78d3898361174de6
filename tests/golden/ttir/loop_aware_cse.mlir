// triton-loop-aware-cse: equal loop-carried values are merged; values that only start alike are not.
// RUN: tessera opt %s --split-input-file -triton-loop-aware-cse -canonicalize --verify-each | FileCheck %s

// Two offsets, changed alike through each other's class.
// CHECK-LABEL: @twice
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} -> (i32, i32)
// CHECK: tt.return %[[R]]#0, %[[R]]#0, %[[R]]#1
tt.func public @twice(%n: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c0, %c = %c1) -> (i32, i32, i32) : i32 {
    %x = arith.addi %b, %c2 : i32
    %y = arith.addi %a, %c2 : i32
    %z = arith.muli %c, %x : i32
    scf.yield %x, %y, %z : i32, i32, i32
  }
  tt.return %r#0, %r#1, %r#2 : i32, i32, i32
}

// -----

// Another initial value; another change, which splits the class of what depends on it too.
// CHECK-LABEL: @stays
// CHECK: scf.for {{.*}} -> (i32, i32, i32, i32, i32)
tt.func public @stays(%n: i32) -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c0, %c = %c1, %d = %c0, %e = %c0) -> (i32, i32, i32, i32, i32) : i32 {
    %x = arith.addi %a, %c1 : i32
    %y = arith.addi %b, %c3 : i32
    %z = arith.addi %c, %c1 : i32
    %u = arith.xori %d, %a : i32
    %v = arith.xori %e, %b : i32
    scf.yield %x, %y, %z, %u, %v : i32, i32, i32, i32, i32
  }
  tt.return %r#0, %r#1, %r#2, %r#3, %r#4 : i32, i32, i32, i32, i32
}

// -----

// Loads may differ between two places; they are not compared.
// CHECK-LABEL: @memory
// CHECK: scf.for {{.*}} -> (i32, i32)
tt.func public @memory(%p: !tt.ptr<i32>, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c0) -> (i32, i32) : i32 {
    %v = tt.load %p : !tt.ptr<i32>
    %x = arith.addi %a, %v : i32
    tt.store %p, %i : !tt.ptr<i32>
    %w = tt.load %p : !tt.ptr<i32>
    %y = arith.addi %b, %w : i32
    scf.yield %x, %y : i32, i32
  }
  tt.return %r#0, %r#1 : i32, i32
}
