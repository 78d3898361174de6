// strip-mine: blocks that fit, or whose elements depend on each other through memory or a result, stay whole.
// RUN: tessera opt %s -strip-mine -canonicalize -loop-invariant-code-motion -cse --remarks=StripMined 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t

// The one block that is split: @copied.
// REMARK-NOT: StripMined
// REMARK: a block of 65536 elements along one dimension is processed in 8 strips of 8192{{.*}}StripMined]
// REMARK-NOT: StripMined

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#m = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #m}>
#cols = #ttg.slice<{dim = 0, parent = #m}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// Reads what it has written to, elsewhere.
// CHECK-LABEL: @shifted
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @shifted(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %one = arith.constant dense<1> : tensor<65536xi32, #b>
  %op = tt.addptr %xp, %one : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  tt.store %op, %a : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// In place, but all elements through one pointer: a later strip would read what an earlier one wrote.
// CHECK-LABEL: @one_pointer
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @one_pointer(%x: !tt.ptr<f32>) {
  %xp = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %d = math.exp %a : tensor<65536xf32, #b>
  tt.store %xp, %d : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// The sum needs all elements.
// CHECK-LABEL: @needs_all
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @needs_all(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %sum = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, %q : f32
    tt.reduce.return %t : f32
  }) : (tensor<65536xf32, #b>) -> f32
  %ss = tt.splat %sum : f32 -> tensor<65536xf32, #b>
  %w = arith.divf %a, %ss : tensor<65536xf32, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  tt.store %op, %w : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// An atomic that releases what was loaded and acquires for what is loaded next.
// CHECK-LABEL: @acquires
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @acquires(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %true = arith.constant dense<true> : tensor<65536xi1, #b>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %op, %a, %true : (tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xf32, #b>, tensor<65536xi1, #b>) -> tensor<65536xf32, #b>
  tt.return
}
// A block that fits.
// CHECK-LABEL: @small
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @small(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
  %a = tt.load %xp : tensor<8192x!tt.ptr<f32>, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
  tt.store %op, %a : tensor<8192x!tt.ptr<f32>, #b>
  tt.return
}
// The pointer arguments of a called function are not a kernel's: they may alias.
// CHECK-LABEL: @called
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func private @called(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %v = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  tt.store %op, %v : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// The same by a kernel.
// CHECK-LABEL: @copied
// CHECK: scf.for
// CHECK: tt.return
tt.func public @copied(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %v = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  tt.store %op, %v : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// Pointers that change places: which argument one is of depends on the iteration.
// CHECK-LABEL: @places
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @places(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %off = arith.constant dense<1> : tensor<65536xi32, #b>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
    %xs = tt.splat %p : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
    %v = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
    %os = tt.splat %y : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
    %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
    %op1 = tt.addptr %op, %off : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
    tt.store %op1, %v : tensor<65536x!tt.ptr<f32>, #b>
    scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
  }
  tt.return
}
}
