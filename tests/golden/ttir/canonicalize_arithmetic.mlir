// canonicalize on integer arithmetic: identities, constants that combine, comparisons, masks.
// RUN: tessera opt %s --split-input-file -canonicalize --verify-each | FileCheck %s

// Integer identities give an operand or a constant.
// CHECK-LABEL: @identities
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: tt.return %[[X:[^,]*]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[ZERO]], %[[ZERO]], %[[X]], %[[ZERO]], %[[X]] :
tt.func public @identities(%x: i32, %y: i32) -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %low = arith.constant -2147483648 : i32
  %0 = arith.addi %c0, %x : i32
  %1 = arith.muli %c1, %x : i32
  %2 = arith.divsi %x, %c1 : i32
  %3 = arith.andi %x, %m1 : i32
  %4 = arith.shli %x, %c0 : i32
  %d = arith.subi %x, %y : i32
  %5 = arith.addi %d, %y : i32
  %6 = arith.subi %x, %x : i32
  %7 = arith.remsi %x, %c1 : i32
  %8 = arith.maxsi %x, %low : i32
  %n = arith.xori %x, %m1 : i32
  %9 = arith.andi %x, %n : i32
  %a = arith.xori %x, %y : i32
  %10 = arith.xori %a, %y : i32
  tt.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
}

// -----

// Constants combine.
// CHECK-LABEL: @constants
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant -1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C12:.*]] = arith.constant 12 : i32
// CHECK: %[[A:.*]] = arith.addi %[[X:.*]], %[[C7]] : i32
// CHECK-NEXT: %[[B:.*]] = arith.addi %[[X]], %[[C1]] : i32
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[C2]], %[[X]] : i32
// CHECK-NEXT: %[[M:.*]] = arith.muli %[[X]], %[[C12]] : i32
// CHECK-NEXT: tt.return %[[A]], %[[B]], %[[D]], %[[M]]
tt.func public @constants(%x: i32) -> (i32, i32, i32, i32) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.addi %x, %c3 : i32
  %1 = arith.addi %0, %c4 : i32
  %2 = arith.addi %x, %c3 : i32
  %3 = arith.subi %2, %c4 : i32
  %4 = arith.subi %x, %c3 : i32
  %5 = arith.subi %c4, %4 : i32
  %6 = arith.subi %5, %c5 : i32
  %7 = arith.muli %x, %c3 : i32
  %8 = arith.muli %7, %c4 : i32
  tt.return %1, %3, %6, %8 : i32, i32, i32, i32
}

// -----

// Comparisons: constants to the right, extensions away, decided by bounds.
// CHECK-LABEL: @comparisons
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[TRUE:.*]] = arith.constant true
// CHECK-DAG: %[[FALSE:.*]] = arith.constant false
// CHECK: %[[A:.*]] = arith.cmpi sgt, %[[X:.*]], %[[C5]] : i32
// CHECK-NEXT: %[[B:.*]] = arith.cmpi slt, %[[X]], %[[Y:.*]] : i32
// CHECK-NEXT: %[[C:.*]] = arith.cmpi ult, %[[X]], %[[Y]] : i32
// CHECK-NEXT: %[[N:.*]] = arith.cmpi sge, %[[X]], %[[Y]] : i32
// CHECK-NEXT: tt.return %[[A]], %[[B]], %[[C]], %[[N]], %[[TRUE]], %[[FALSE]], %[[TRUE]] :
tt.func public @comparisons(%x: i32, %y: i32) -> (i1, i1, i1, i1, i1, i1, i1) {
  %c5 = arith.constant 5 : i32
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %true = arith.constant true
  %low = arith.constant -2147483648 : i32
  %a = arith.cmpi slt, %c5, %x : i32
  %x1 = arith.extsi %x : i32 to i64
  %y1 = arith.extsi %y : i32 to i64
  %b = arith.cmpi slt, %x1, %y1 : i64
  %x2 = arith.extui %x : i32 to i64
  %y2 = arith.extui %y : i32 to i64
  %c = arith.cmpi slt, %x2, %y2 : i64
  %m = arith.cmpi slt, %x, %y : i32
  %n = arith.xori %m, %true : i1
  %pid = tt.get_program_id x : i32
  %d = arith.cmpi sge, %pid, %c0 : i32
  %e = arith.cmpi slt, %x, %low : i32
  %r = arith.remsi %pid, %c64 : i32
  %f = arith.cmpi ult, %r, %c64 : i32
  tt.return %a, %b, %c, %n, %d, %e, %f : i1, i1, i1, i1, i1, i1, i1
}

// -----

// A mask that is always true, and one that is not. The counter of a loop is below its bound.
// CHECK-LABEL: @masks
// CHECK: tt.load %{{[^,]*}} : tensor<64x!tt.ptr<f32>>
// CHECK: %[[M:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK: tt.store %{{.*}}, %{{.*}}, %[[M]] : tensor<64x!tt.ptr<f32>>
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK: tt.return
tt.func public @masks(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %c64 = arith.constant dense<64> : tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %all = arith.cmpi slt, %r, %c64 : tensor<64xi32>
  %v = tt.load %a, %all, %zero : tensor<64x!tt.ptr<f32>>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %some = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %w = arith.addf %v, %v : tensor<64xf32>
  tt.store %a, %w, %some : tensor<64x!tt.ptr<f32>>
  scf.for %i = %c0 to %c10 step %c1 : i32 {
    %in = arith.cmpi slt, %i, %c10 : i32
    %t = tt.addptr %q, %i : !tt.ptr<i32>, i32
    tt.store %t, %i, %in : !tt.ptr<i32>
  }
  tt.return
}
