// loop-invariant-code-motion: loop-invariant operations move before the loop, safe where the loop does not run.
// RUN: tessera opt %s --split-input-file -loop-invariant-code-motion --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-licm --verify-each | FileCheck %s

// Out of two loops at once.
// CHECK-LABEL: @nest
// CHECK: %[[S:.*]] = tt.splat
// CHECK-NEXT: %[[M:.*]] = arith.muli %[[S]], %[[S]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: tt.splat
// CHECK-NEXT: scf.for
tt.func public @nest(%x: i32, %n: i32) -> tensor<4xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<4xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<4xi32>) : i32 {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<4xi32>) : i32 {
      %s = tt.splat %x : i32 -> tensor<4xi32>
      %m = arith.muli %s, %s : tensor<4xi32>
      %k = arith.index_cast %i : i32 to index
      %l = arith.index_cast %k : index to i32
      %ls = tt.splat %l : i32 -> tensor<4xi32>
      %t = arith.addi %b, %m : tensor<4xi32>
      %u = arith.addi %t, %ls : tensor<4xi32>
      scf.yield %u : tensor<4xi32>
    }
    scf.yield %q : tensor<4xi32>
  }
  tt.return %r : tensor<4xi32>
}

// -----

// Loads: out of loops that write nothing, masked where the loop may not run.
// CHECK-LABEL: @loads
// CHECK: tt.load %{{[^,]*}} : !tt.ptr<i32>
// CHECK-NEXT: scf.for
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %c0_i32, %{{.*}} : i32
// CHECK-NEXT: tt.load %{{.*}}, %[[RUNS]] : !tt.ptr<i32>
// CHECK-NEXT: scf.for
// CHECK: scf.for
// CHECK-NEXT: tt.load
tt.func public @loads(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %runs = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %v = tt.load %p : !tt.ptr<i32>
    %t = arith.addi %a, %v : i32
    scf.yield %t : i32
  }
  %may_not_run = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %v = tt.load %p : !tt.ptr<i32>
    %t = arith.addi %a, %v : i32
    scf.yield %t : i32
  }
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %v = tt.load %p : !tt.ptr<i32>
    %t = arith.addi %i, %v : i32
    tt.store %q, %t : !tt.ptr<i32>
  }
  tt.return %runs, %may_not_run : i32, i32
}

// -----

// Division: by a power of two instead of a number that may be zero, or -1 where signed, if the loop may not run.
// CHECK-LABEL: @division
// CHECK-SAME: (%[[X:.*]]: i32, %[[Y:.*]]: i32, %[[N:.*]]: i32)
// CHECK: arith.divsi %{{.*}}, %c4
// CHECK-NEXT: arith.remui
// CHECK-NEXT: %[[RUNS:.*]] = arith.cmpi slt, %c0_i32, %[[N]]
// CHECK-NEXT: %[[POWER:.*]] = arith.constant 1073741824
// CHECK-NEXT: %[[SAFE:.*]] = arith.select %[[RUNS]], %[[Y]], %[[POWER]]
// CHECK-NEXT: arith.divsi %[[X]], %[[SAFE]]
// CHECK: %[[SAFE_TOO:.*]] = arith.select %{{.*}}, %[[Y]], %{{.*}}
// CHECK-NEXT: arith.divui %[[X]], %[[SAFE_TOO]]
// CHECK: scf.for
// CHECK-NOT: arith.div
// CHECK: }
// CHECK-NEXT: arith.divsi %[[X]], %[[Y]]
// CHECK-NEXT: scf.for
tt.func public @division(%x: i32, %y: i32, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %np = tt.get_num_programs x : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %d = arith.divsi %x, %c4 : i32
    %e = arith.remui %x, %np : i32
    %f = arith.divsi %x, %y : i32
    %g = arith.divui %x, %y : i32
    %s = arith.addi %d, %e : i32
    %t = arith.addi %f, %g : i32
    %u = arith.addi %s, %t : i32
    %v = arith.addi %a, %u : i32
    scf.yield %v : i32
  }
  %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %d = arith.divsi %x, %y : i32
    %v = arith.addi %a, %d : i32
    scf.yield %v : i32
  }
  tt.return %r, %q : i32, i32
}
