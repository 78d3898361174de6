// canonicalize on selects, conversions and floating-point arithmetic; and what must stay.
// RUN: tessera opt %s --split-input-file -canonicalize --verify-each | FileCheck %s

// CHECK-LABEL: @selects
// CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK-DAG: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[A:.*]] = arith.select %[[C]], %[[Y]], %[[X]] : i32
// CHECK-NEXT: %[[B:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : i32
// CHECK-NEXT: %[[D:.*]] = arith.xori %[[C]], %[[TRUE]] : i1
// CHECK-NEXT: %[[E:.*]] = arith.extui %[[C]] : i1 to i32
// CHECK-NEXT: tt.return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[Y]], %[[X]]
tt.func public @selects(%c: i1, %x: i32, %y: i32) -> (i32, i32, i1, i1, i32, i32, i32) {
  %true = arith.constant true
  %false = arith.constant false
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.xori %c, %true : i1
  %0 = arith.select %n, %x, %y : i32
  %1 = arith.select %c, %x, %c1 : i32
  %2 = arith.select %c, %1, %y : i32
  %3 = arith.select %c, %true, %false : i1
  %4 = arith.select %c, %false, %true : i1
  %5 = arith.select %c, %c1, %c0 : i32
  %eq = arith.cmpi eq, %x, %y : i32
  %6 = arith.select %eq, %x, %y : i32
  %ne = arith.cmpi ne, %x, %y : i32
  %7 = arith.select %ne, %x, %y : i32
  tt.return %0, %2, %3, %4, %5, %6, %7 : i32, i32, i1, i1, i32, i32, i32
}

// -----

// CHECK-LABEL: @conversions
// CHECK-SAME: %[[X:[^:]*]]: i8, %[[F:[^:]*]]: f16, %[[I:[^:]*]]: i32
// CHECK-NEXT: %[[A:.*]] = arith.extsi %[[X]] : i8 to i64
// CHECK-NEXT: %[[B:.*]] = arith.extui %[[X]] : i8 to i64
// CHECK-NEXT: %[[C:.*]] = arith.extsi %[[X]] : i8 to i16
// CHECK-NEXT: tt.return %[[A]], %[[B]], %[[X]], %[[C]], %[[F]], %[[I]]
tt.func public @conversions(%x: i8, %f: f16, %i: i32) -> (i64, i64, i8, i16, f16, i32) {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.extsi %0 : i32 to i64
  %2 = arith.extui %x : i8 to i32
  %3 = arith.extsi %2 : i32 to i64
  %4 = arith.trunci %0 : i32 to i8
  %5 = arith.trunci %1 : i64 to i16
  %6 = arith.extf %f : f16 to f32
  %7 = arith.truncf %6 : f32 to f16
  %8 = arith.index_cast %i : i32 to index
  %9 = arith.index_cast %8 : index to i32
  tt.return %1, %3, %4, %5, %7, %9 : i64, i64, i8, i16, f16, i32
}

// -----

// Floats: x + 0, x * 0, x - x and max(x, -inf) are not x, 0, 0 and x for every x; x + -0, x - 0, x * 1 and x / 1 are x.
// CHECK-LABEL: @floats
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: arith.addf %[[X]]
// CHECK-NEXT: arith.mulf %[[X]]
// CHECK-NEXT: arith.subf %[[X]], %[[X]]
// CHECK-NEXT: arith.maxnumf %[[X]]
// CHECK-NEXT: tt.return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[X]], %[[X]], %[[X]], %[[X]] :
tt.func public @floats(%x: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %0 = arith.addf %x, %zero fastmath<fast> : f32
  %1 = arith.mulf %x, %zero : f32
  %2 = arith.subf %x, %x : f32
  %3 = arith.maxnumf %x, %inf : f32
  %4 = arith.addf %x, %minus : f32
  %5 = arith.subf %x, %zero : f32
  %6 = arith.mulf %x, %one : f32
  %7 = arith.divf %x, %one : f32
  tt.return %0, %1, %2, %3, %4, %5, %6, %7 : f32, f32, f32, f32, f32, f32, f32, f32
}

// -----

// An integer becomes a number of 16 bits by way of f32, as in compiled code: 2^30 + 2^22 + 1 is rounded to 2^30 + 2^22,
// halfway between two numbers of bf16, and then to the even one. What 8 bits do not hold is left to the device.
// CHECK-LABEL: @integers_to_floats
// CHECK-DAG: %[[B:.*]] = arith.constant 1.073740e+09 : bf16
// CHECK-DAG: %[[W:.*]] = arith.constant 1.07793613E+9 : f32
// CHECK-DAG: %[[H:.*]] = arith.constant 2.048000e+03 : f16
// CHECK-DAG: %[[E:.*]] = arith.constant 1.600000e+01 : f8E5M2
// CHECK: %[[R:.*]] = arith.sitofp
// CHECK-NEXT: tt.return %[[B]], %[[W]], %[[H]], %[[E]], %[[R]]
tt.func public @integers_to_floats() -> (bf16, f32, f16, f8E5M2, f8E5M2) {
  %wide = arith.constant 1077936129 : i32
  %odd = arith.constant 2049 : i32
  %c16 = arith.constant 16 : i32
  %c17 = arith.constant 17 : i32
  %0 = arith.sitofp %wide : i32 to bf16
  %1 = arith.uitofp %wide : i32 to f32
  %2 = arith.uitofp %odd : i32 to f16
  %3 = arith.sitofp %c16 : i32 to f8E5M2
  %4 = arith.sitofp %c17 : i32 to f8E5M2
  tt.return %0, %1, %2, %3, %4 : bf16, f32, f16, f8E5M2, f8E5M2
}

// -----

// What is undefined is not folded; division and remainder by powers of two stay; narrowing that loses bits stays.
// CHECK-LABEL: @stays
// CHECK: arith.divsi
// CHECK-NEXT: arith.divsi
// CHECK-NEXT: arith.shli
// CHECK-NEXT: arith.divsi
// CHECK-NEXT: arith.remsi
// CHECK-NEXT: %[[W:.*]] = arith.trunci
// CHECK-NEXT: arith.extsi %[[W]]
// CHECK-NEXT: tt.return
tt.func public @stays(%x: i32) -> (i32, i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %low = arith.constant -2147483648 : i32
  %0 = arith.divsi %c1, %c0 : i32
  %1 = arith.divsi %low, %m1 : i32
  %2 = arith.shli %c1, %c32 : i32
  %3 = arith.divsi %x, %c8 : i32
  %4 = arith.remsi %x, %c8 : i32
  %5 = arith.trunci %x : i32 to i8
  %6 = arith.extsi %5 : i8 to i32
  tt.return %0, %1, %2, %3, %4, %6 : i32, i32, i32, i32, i32, i32
}
