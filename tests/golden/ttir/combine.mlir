// triton-combine: pointer additions, selects of masked loads, sums of dots; and where they must not merge.
// RUN: tessera opt %s --split-input-file -triton-combine -canonicalize --verify-each | FileCheck %s

// Offsets of 64 bits, or whose sum cannot wrap, add up; others stay two additions, and so does one that is used otherwise.
// CHECK-LABEL: @addptr
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : i64
// CHECK-DAG: %[[V:.*]] = arith.constant dense<12> : tensor<8xi32>
// CHECK: %[[S:.*]] = arith.addi %{{.*}}, %[[C9]] : i64
// CHECK-NEXT: %[[A:.*]] = tt.addptr %[[P:.*]], %[[S]] : !tt.ptr<f32>, i64
// CHECK-NEXT: %[[B:.*]] = tt.addptr %[[P]], %[[X:.*]] : !tt.ptr<f32>, i32
// CHECK-NEXT: %[[C:.*]] = tt.addptr %[[B]], %{{.*}} : !tt.ptr<f32>, i32
// CHECK: %[[R:.*]] = tt.make_range
// CHECK-NEXT: %[[T:.*]] = tt.splat
// CHECK-NEXT: %[[O:.*]] = arith.addi %[[R]], %[[V]] : tensor<8xi32>
// CHECK-NEXT: tt.addptr %[[T]], %[[O]]
tt.func public @addptr(%p: !tt.ptr<f32>, %x: i32, %y: i64) -> (!tt.ptr<f32>, !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>) {
  %c9 = arith.constant 9 : i64
  %c5 = arith.constant 5 : i32
  %c12 = arith.constant dense<12> : tensor<8xi32>
  %0 = tt.addptr %p, %y : !tt.ptr<f32>, i64
  %1 = tt.addptr %0, %c9 : !tt.ptr<f32>, i64
  %2 = tt.addptr %p, %x : !tt.ptr<f32>, i32
  %3 = tt.addptr %2, %c5 : !tt.ptr<f32>, i32
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %4 = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %5 = tt.addptr %4, %c12 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.return %1, %3, %5 : !tt.ptr<f32>, !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>
}

// -----

// The select's other value becomes the load's.
// CHECK-LABEL: @select
// CHECK: %[[V:.*]] = tt.load %{{.*}}, %{{.*}}, %[[O:.*]] : tensor<8x!tt.ptr<f32>>
// CHECK-NOT: arith.select
// CHECK: tt.return %[[V]]
tt.func public @select(%p: !tt.ptr<f32>, %c: i1, %o: f32) -> tensor<8xf32> {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %a = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %os = tt.splat %o : f32 -> tensor<8xf32>
  %m = tt.splat %c : i1 -> tensor<8xi1>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %v = tt.load %a, %m, %zero : tensor<8x!tt.ptr<f32>>
  %x = arith.select %c, %v, %os : tensor<8xf32>
  tt.return %x : tensor<8xf32>
}

// -----

// Not so where the other value is not there yet: computed after the load, or carried by a loop that the load stands before;
// nor where the condition is another, or the values are exchanged.
// CHECK-LABEL: @select_stays
// CHECK-COUNT-4: arith.select
tt.func public @select_stays(%p: !tt.ptr<f32>, %c: i1, %d: i1, %o: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant 0.0 : f32
  %v = tt.load %p, %c, %zero : !tt.ptr<f32>
  %late = arith.addf %o, %o : f32
  %0 = arith.select %c, %v, %late : f32
  %w = tt.load %p, %c, %zero : !tt.ptr<f32>
  %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %o) -> (f32) : i32 {
    %x = arith.select %c, %w, %a : f32
    %y = arith.addf %x, %o : f32
    scf.yield %y : f32
  }
  %u = tt.load %p, %c, %zero : !tt.ptr<f32>
  %2 = arith.select %d, %u, %o : f32
  %t = tt.load %p, %c, %zero : !tt.ptr<f32>
  %3 = arith.select %c, %o, %t : f32
  tt.return %0, %1, %2, %3 : f32, f32, f32, f32
}

// -----

// A dot of microscaled operands takes the addend too, on either side.
// CHECK-LABEL: @scaled_dot
// CHECK-SAME: %[[C:[^:]*]]: tensor<16x16xf32>
// CHECK: %[[D:.*]] = tt.dot_scaled %arg0 scale %arg1, %arg2, %[[C]] lhs = e4m3 rhs = e4m3
// CHECK-NEXT: tt.return %[[D]]
tt.func private @scaled_dot(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x16xf8E4M3FN>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = tt.dot_scaled %a scale %s, %b, %zero lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xf8E4M3FN> -> tensor<16x16xf32>
  %1 = arith.addf %c, %0 : tensor<16x16xf32>
  tt.return %1 : tensor<16x16xf32>
}

// -----

// A dot that starts from zero takes the addend; one in front of a loop does not move into it, one that starts from
// something else stays.
// CHECK-LABEL: @dot
// CHECK-SAME: %[[A:[^:]*]]: tensor<16x16xf16>, %[[C:[^:]*]]: tensor<16x16xf32>
// CHECK: %[[D:.*]] = tt.dot %[[A]], %[[A]], %[[C]] :
// CHECK-NEXT: %[[E:.*]] = tt.dot %[[A]], %[[A]], %[[C]] :
// CHECK-NEXT: arith.addf %[[E]], %[[C]]
// CHECK-NEXT: tt.dot
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.addf
tt.func private @dot(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %c : tensor<16x16xf32>
  %2 = tt.dot %a, %a, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %3 = arith.addf %2, %c : tensor<16x16xf32>
  %4 = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %5 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %c) -> (tensor<16x16xf32>) : i32 {
    %t = arith.addf %4, %s : tensor<16x16xf32>
    scf.yield %t : tensor<16x16xf32>
  }
  tt.return %1, %3, %5 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
