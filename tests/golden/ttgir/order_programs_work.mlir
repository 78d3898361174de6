// order-programs: the programs with the most iterations start first, where work grows or shrinks with the number.
// RUN: tessera opt %s -split-input-file -order-programs --target sm_90a | FileCheck %s
// RUN: tessera opt %s -split-input-file -order-programs --target gfx1100 | FileCheck %s
// RUN: tessera opt %s -split-input-file -order-programs --target gfx942 | FileCheck %s --check-prefix=DIES
// DIES-NOT: tessera.work_axis

// Causal attention: a loop without mask up to the diagonal, and one along it, which is as long for all.
// CHECK-LABEL: @grows
// CHECK-DAG: tt.get_program_id x {tessera.work_axis = 0 : i32, tessera.work_increases, tessera.work_rows = 16 : i32} : i32
// CHECK-DAG: tt.get_program_id y {tessera.work_axis = 0 : i32, tessera.work_increases, tessera.work_rows = 16 : i32} : i32
tt.func public @grows(%p: !tt.ptr<f32>, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %c128 = arith.constant 128 : i32
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %next = arith.addi %x, %c1 : i32
  %lo = arith.muli %x, %c128 : i32
  %hi = arith.muli %next, %c128 : i32
  %d = scf.for %i = %c0 to %lo step %c32 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %f = scf.for %i = %lo to %hi step %c32 iter_args(%acc = %d) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %q = tt.addptr %p, %y : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %s, %f : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Gradients of keys: all queries attend to the first block of keys. The length is read from memory, for all programs
// of a row alike, and the number of iterations is limited by it.
// CHECK-LABEL: @shrinks
// CHECK-DAG: tt.get_program_id y {tessera.work_axis = 1 : i32, tessera.work_rows = 16 : i32} : i32
// CHECK-DAG: tt.get_program_id x {tessera.work_axis = 1 : i32, tessera.work_rows = 16 : i32} : i32
tt.func public @shrinks(%p: !tt.ptr<f32>, %lengths: !tt.ptr<i32>, %n: i32, %a: tensor<16x16xf32>) {
  %c32 = arith.constant 32 : i32
  %c7 = arith.constant 7 : i32
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %at = tt.addptr %lengths, %x : !tt.ptr<i32>, i32
  %length = tt.load %at : !tt.ptr<i32>
  %most = arith.minsi %length, %n : i32
  %lo = arith.shli %y, %c7 : i32
  %d = scf.for %i = %lo to %most step %c32 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %q = tt.addptr %p, %y : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// With one axis, the hardware starts the longest program first by itself.
// CHECK-LABEL: @shrinks_on_the_only_axis
// CHECK-NOT: tessera.work_axis
tt.func public @shrinks_on_the_only_axis(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c32 = arith.constant 32 : i32
  %x = tt.get_program_id x : i32
  %d = scf.for %i = %x to %n step %c32 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// A window: both bounds grow, by how much is not known. And a remainder grows and shrinks.
// CHECK-LABEL: @window
// CHECK-NOT: tessera.work_axis
tt.func public @window(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %first = arith.subi %x, %n : i32
  %lo = arith.maxsi %first, %c0 : i32
  %r = arith.remsi %y, %c5 : i32
  %d = scf.for %i = %lo to %x step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %f = scf.for %i = %c0 to %r step %c1 iter_args(%acc = %d) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %s, %f : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Queries' gradients after keys': one part grows, the other shrinks.
// CHECK-LABEL: @balanced
// CHECK-NOT: tessera.work_axis
tt.func public @balanced(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %d = scf.for %i = %x to %n step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %f = scf.for %i = %c0 to %x step %c1 iter_args(%acc = %d) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %q = tt.addptr %p, %y : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %s, %f : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
