// cse: what computes the same from the same where the first dominates the second; and what must stay.
// RUN: tessera opt %s --split-input-file -cse --verify-each | FileCheck %s

// Attributes and types tell operations apart; reductions are compared with their regions.
// CHECK-LABEL: @pure
// CHECK-COUNT-1: arith.addi %{{.*}} : tensor<4xi32>
// CHECK-COUNT-2: arith.cmpi
// CHECK-COUNT-2: "tt.reduce"
// CHECK-NOT: "tt.reduce"
// CHECK: tt.return
tt.func public @pure(%x: i32, %y: i32) -> (tensor<4xi32>, i1, i1, i32, i32, i32) {
  %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %a = arith.addi %r, %r : tensor<4xi32>
  %b = arith.addi %r, %r : tensor<4xi32>
  %c = arith.muli %a, %b : tensor<4xi32>
  %d = arith.cmpi slt, %x, %y : i32
  %e = arith.cmpi sgt, %x, %y : i32
  %f = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    tt.reduce.return %s : i32
  }) : (tensor<4xi32>) -> i32
  %g = "tt.reduce"(%b) <{axis = 0 : i32}> ({
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    tt.reduce.return %s : i32
  }) : (tensor<4xi32>) -> i32
  %h = "tt.reduce"(%b) <{axis = 0 : i32}> ({
  ^bb0(%p: i32, %q: i32):
    %s = arith.maxsi %p, %q : i32
    tt.reduce.return %s : i32
  }) : (tensor<4xi32>) -> i32
  tt.return %c, %d, %e, %f, %g, %h : tensor<4xi32>, i1, i1, i32, i32, i32
}

// -----

// Loads merge until something is written; volatile loads and atomics never do.
// CHECK-LABEL: @memory
// CHECK: tt.load
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.load
// CHECK-NEXT: tt.load {{.*}} {isVolatile = true}
// CHECK-NEXT: tt.load {{.*}} {isVolatile = true}
// CHECK-NEXT: tt.atomic_rmw
// CHECK-NEXT: tt.atomic_rmw
tt.func public @memory(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) -> (i32, i32, i32, i32, i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  %a = tt.load %p : !tt.ptr<i32>
  %b = tt.load %p : !tt.ptr<i32>
  tt.store %q, %c1 : !tt.ptr<i32>
  %c = tt.load %p : !tt.ptr<i32>
  %d = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %e = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %f = tt.atomic_rmw add, relaxed, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %g = tt.atomic_rmw add, relaxed, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return %a, %b, %c, %d, %e, %f, %g : i32, i32, i32, i32, i32, i32, i32
}

// -----

// A region can use values from before it; values of one region are not available in another one or after it. A store in a
// region counts as a store.
// CHECK-LABEL: @regions
// CHECK: %[[A:.*]] = arith.muli
// CHECK: tt.load
// CHECK: scf.if
// CHECK-NEXT: arith.addi %[[A]], %[[A]]
// CHECK: } else {
// CHECK-NEXT: arith.addi %[[A]], %[[A]]
// CHECK: }
// CHECK-NEXT: tt.load
// CHECK-NEXT: arith.addi %[[A]], %[[A]]
tt.func public @regions(%p: !tt.ptr<i32>, %x: i32, %c: i1) -> (i32, i32, i32, i32) {
  %a = arith.muli %x, %x : i32
  %l = tt.load %p : !tt.ptr<i32>
  %r = scf.if %c -> (i32) {
    %b = arith.muli %x, %x : i32
    %d = arith.addi %a, %b : i32
    tt.store %p, %d : !tt.ptr<i32>
    scf.yield %d : i32
  } else {
    %d = arith.addi %a, %a : i32
    scf.yield %d : i32
  }
  %m = tt.load %p : !tt.ptr<i32>
  %d = arith.addi %a, %a : i32
  tt.return %r, %d, %l, %m : i32, i32, i32, i32
}

// -----

// Blocks: what the entry computes is there in all others, what another block computes is not.
// CHECK-LABEL: @blocks
// CHECK: %[[A:.*]] = arith.muli
// CHECK: ^bb1:
// CHECK-NEXT: arith.addi %[[A]], %[[A]]
// CHECK: ^bb2:
// CHECK-NEXT: arith.addi %[[A]], %[[A]]
tt.func public @blocks(%x: i32, %c: i1) -> i32 {
  %a = arith.muli %x, %x : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %b = arith.muli %x, %x : i32
  %d = arith.addi %b, %a : i32
  tt.return %d : i32
^bb2:
  %e = arith.addi %a, %a : i32
  tt.return %e : i32
}
