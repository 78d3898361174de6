// order-programs: neighbouring programs on the same die, in kernels with dots in loops.
// RUN: tessera opt %s -split-input-file -order-programs --target gfx950 | FileCheck %s
// RUN: tessera opt %s -split-input-file -order-programs --target gfx90a | FileCheck %s --check-prefix=ONE-DIE
// ONE-DIE-NOT: tessera.die_window

// CHECK-LABEL: @one_axis
// CHECK: tt.get_program_id x {tessera.die_window = 32 : i32} : i32
tt.func public @one_axis(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tt.get_program_id x : i32
  %q = tt.addptr %p, %id : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @two_axes
// CHECK-DAG: tt.get_program_id x {tessera.die_window = 32 : i32, tessera.two_axes = true} : i32
// CHECK-DAG: tt.get_program_id y {tessera.die_window = 32 : i32, tessera.two_axes = true} : i32
tt.func public @two_axes(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %id = arith.addi %x, %y : i32
  %q = tt.addptr %p, %id : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// The kernel distributes its programs over dies by itself.
// CHECK-LABEL: @knows_dies
// CHECK-NOT: tessera.die_window
tt.func public @knows_dies(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %x = tt.get_program_id x : i32
  %id = arith.remsi %x, %c8 : i32
  %q = tt.addptr %p, %id : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Programs may wait for each other.
// CHECK-LABEL: @talks
// CHECK-NOT: tessera.die_window
tt.func public @talks(%p: !tt.ptr<i32>, %n: i32, %a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  %x = tt.get_program_id x : i32
  %old = tt.atomic_rmw add, acq_rel, gpu, %p, %x, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.return %d : tensor<16x16xf32>
}

// -----

// Without a dot in a loop nothing is shared that counts.
// CHECK-LABEL: @no_dot
// CHECK-NOT: tessera.die_window
tt.func public @no_dot(%p: !tt.ptr<i32>) {
  %x = tt.get_program_id x : i32
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}

// -----

// The numbers in a called function are those in its caller.
// CHECK-LABEL: @called
// CHECK-NOT: tessera.die_window
tt.func private @called(%n: i32, %a: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {noinline = true} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tt.get_program_id x : i32
  %s = arith.sitofp %x : i32 to f32
  %b = tt.splat %s : f32 -> tensor<16x16xf32>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %b) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.return %d : tensor<16x16xf32>
}
// CHECK-LABEL: @caller
tt.func public @caller(%p: !tt.ptr<i32>, %n: i32, %a: tensor<16x16xf32>) {
  %x = tt.get_program_id x : i32
  %d = tt.call @called(%n, %a) : (i32, tensor<16x16xf32>) -> tensor<16x16xf32>
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}

// -----

// Assembly with effects may wait for another program.
// CHECK-LABEL: @assembly
// CHECK-NOT: tessera.die_window
tt.func public @assembly(%p: !tt.ptr<f32>, %n: i32, %a: tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tt.get_program_id x : i32
  %q = tt.addptr %p, %id : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %m = tt.elementwise_inline_asm "s_sleep 1" {constraints = "=v,v", packed_element = 1 : i32, pure = false} %n : i32 -> i32
  %d = scf.for %i = %c0 to %m step %c1 iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// So may a function with effects.
// CHECK-LABEL: @function
// CHECK-NOT: tessera.die_window
tt.func public @function(%n: i32, %a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %id = tt.get_program_id x : i32
  %m = tt.extern_elementwise %id {libname = "", libpath = "", pure = false, symbol = "wait"} : (i32) -> i32
  %d = scf.for %i = %id to %n step %m iter_args(%acc = %a) -> (tensor<16x16xf32>) : i32 {
    %e = tt.dot %a, %a, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.return %d : tensor<16x16xf32>
}
