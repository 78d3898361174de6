// A loop that only computes integers becomes their values after it. Not one with a sum of floats or with accesses to
// memory, whose other results its code has to compute in any case, nor one of at most three iterations.
// RUN: tessera compile %s --target gfx942 --emit llir --kernel squares | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit llir --kernel squares | FileCheck %s
// CHECK-LABEL: @squares
// CHECK-NOT: phi
// CHECK: mul i33
// CHECK-LABEL: @halves
// CHECK: phi {{.*}}float
// CHECK-NOT: = mul
// CHECK-LABEL: @loads
// CHECK: phi
// CHECK-NOT: = mul
// CHECK-LABEL: @few
// CHECK-NOT: i33
// CHECK: ret
tt.func public @squares(%o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%s = %c0, %i = %c0) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %s, %i : i32, i32
  } do {
  ^bb0(%s: i32, %i: i32):
    %q = arith.muli %i, %i : i32
    %t = arith.addi %s, %q : i32
    %j = arith.addi %i, %c1 : i32
    scf.yield %t, %j : i32, i32
  }
  tt.store %o, %r#0 : !tt.ptr<i32>
  tt.return
}
tt.func public @halves(%o: !tt.ptr<i32>, %p: !tt.ptr<f32>, %n: i32, %y: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %r:3 = scf.while (%s = %zero, %i = %c0, %u = %c0) : (f32, i32, i32) -> (f32, i32, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %s, %i, %u : f32, i32, i32
  } do {
  ^bb0(%s: f32, %i: i32, %u: i32):
    %t = arith.addf %s, %y : f32
    %j = arith.addi %i, %c1 : i32
    %v = arith.addi %u, %j : i32
    scf.yield %t, %j, %v : f32, i32, i32
  }
  tt.store %p, %r#0 : !tt.ptr<f32>
  tt.store %o, %r#2 : !tt.ptr<i32>
  tt.return
}
tt.func public @loads(%o: !tt.ptr<i32>, %p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%s = %c0, %i = %c0) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %s, %i : i32, i32
  } do {
  ^bb0(%s: i32, %i: i32):
    %a = tt.addptr %p, %i : !tt.ptr<i32>, i32
    %x = tt.load %a {isVolatile = true} : !tt.ptr<i32>
    %t = arith.addi %s, %i : i32
    %j = arith.addi %i, %c1 : i32
    scf.yield %t, %j : i32, i32
  }
  tt.store %o, %r#0 : !tt.ptr<i32>
  tt.return
}
tt.func public @few(%o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %most = arith.andi %n, %c3 : i32
  %r = scf.for %i = %c0 to %most step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %q = arith.muli %i, %i : i32
    %t = arith.addi %s, %q : i32
    scf.yield %t : i32
  }
  tt.store %o, %r : !tt.ptr<i32>
  tt.return
}
