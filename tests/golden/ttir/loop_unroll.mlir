// triton-loop-unroll: copies of the body, a loop for the rest.
// RUN: tessera opt %s --split-input-file -triton-loop-unroll --verify-each | FileCheck %s

// Bounds that are not known: the trip count is computed, the rest is not pipelined.
// CHECK-LABEL: @dynamic
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[LO:.*]], %[[HI:.*]] : i32
// CHECK: arith.divui
// CHECK: arith.select %[[RUNS]]
// CHECK: arith.remui
// CHECK: %[[MID:.*]] = arith.addi %[[LO]]
// CHECK: %[[STEP:.*]] = arith.muli %[[S:.*]], %{{.*}} : i32
// CHECK: %[[MAIN:.*]] = scf.for %[[I:.*]] = %[[LO]] to %[[MID]] step %[[STEP]] iter_args(%[[A:.*]] = %{{.*}}) -> (i32)
// CHECK-NEXT: %[[B:.*]] = arith.addi %[[A]], %[[I]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK-NEXT: %[[C:.*]] = arith.addi %[[B]], %[[J]]
// CHECK-NEXT: scf.yield %[[C]]
// CHECK-NEXT: } {tt.num_stages = 3 : i32}
// CHECK-NEXT: %[[REST:.*]] = scf.for %{{.*}} = %[[MID]] to %[[HI]] step %[[S]] iter_args(%{{.*}} = %[[MAIN]]) -> (i32)
// CHECK: } {tt.num_stages = 1 : i32}
// CHECK-NEXT: tt.return %[[REST]]
tt.func public @dynamic(%lo: i32, %hi: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %lo to %hi step %c3 iter_args(%a = %c0) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32}
  tt.return %r : i32
}

// -----

// A trip count that the unroll factor divides needs no remainder loop. Loops with fewer trips, with factor 1 or without the
// attribute are unchanged. Inner loops are unrolled in each copy.
// CHECK-LABEL: @static
// CHECK: scf.for
// CHECK-COUNT-4: tt.store
// CHECK-NOT: tt.store
// CHECK: scf.for
// CHECK-NEXT: arith.muli
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
// CHECK-NOT: unroll
// CHECK: tt.return
tt.func public @static(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  scf.for %i = %c0 to %c8 step %c2 : i32 {
    %a = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %a, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    %x = arith.muli %i, %i : i32
  } {tt.loop_unroll_factor = 4 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = tt.addptr %q, %i : !tt.ptr<i32>, i32
    tt.store %a, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1 : i32}
  tt.return
}

// -----

// CHECK-LABEL: @nested
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: scf.for
tt.func public @nested(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> (i32) : i32 {
    %q = scf.for %j = %c0 to %c5 step %c1 iter_args(%b = %a) -> (i32) : i32 {
      %s = arith.xori %j, %i : i32
      %t = arith.muli %b, %s : i32
      %u = arith.addi %t, %c1 : i32
      scf.yield %u : i32
    } {tt.loop_unroll_factor = 3 : i32}
    scf.yield %q : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %r : i32
}
