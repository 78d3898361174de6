// Without TMA a kernel with descriptor arguments has two versions: a fast one for rows of whole vectors, strides and
// sizes that need no 64-bit arithmetic and padding with zero, and one for all others, whose loops are not pipelined.
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-descriptor-to-pointer -canonicalize --target sm_80 --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-descriptor-to-pointer -canonicalize --target gfx942 --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-descriptor-to-pointer -canonicalize --target sm_90a --verify-each | FileCheck %s

// Rows of a multiple of eight f16, sizes below 2^30, strides below 2^24 elements (16 of them are 2^29 bytes), no NaN.
// CHECK-LABEL: @copy
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f16> {{{.*}}}, %[[ROWS:.*]]: i64, %[[COLUMNS:.*]]: i64, %[[STRIDE:.*]]: i64 {{{.*}}}, %{{.*}}: i64, %[[NAN:.*]]: i1
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : i64
// CHECK-DAG: %[[C30:.*]] = arith.constant 30 : i64
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i64
// CHECK: %[[SIZES:.*]] = arith.ori %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[LARGE:.*]] = arith.shrui %[[SIZES]], %[[C30]]
// CHECK: %[[FAR:.*]] = arith.shrui %[[STRIDE]], %[[C24]]
// CHECK: %[[REST:.*]] = arith.andi %[[COLUMNS]], %[[C7]]
// CHECK: arith.extui %[[NAN]]
// CHECK: %[[FAST:.*]] = arith.cmpi eq, %{{.*}}, %[[ZERO]]
// CHECK: scf.if %[[FAST]] {
// CHECK:   scf.for
// CHECK:     arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK:     tt.load %{{.*}}, %{{.*}}, %cst{{.*}} : tensor<16x64x!tt.ptr<f16>>
// CHECK-NOT: tt.num_stages
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi64>
// CHECK:     arith.select %[[NAN]]
// CHECK:     tt.load
// CHECK:   } {tt.num_stages = 1 : i32}
tt.func public @copy(%x: !tt.tensordesc<tensor<16x64xf16>>, %o: !tt.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %p = tt.splat %o : !tt.ptr<f16> -> tensor<16x64x!tt.ptr<f16>>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %j = arith.muli %k, %c64 : i32
    %v = tt.descriptor_load %x[%c0, %j] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
    tt.store %p, %v : tensor<16x64x!tt.ptr<f16>>
  }
  tt.return
}

// -----

// Integers have no NaN; a vector is not longer than a row of the block; the elements of vectors differ by type.
// CHECK-LABEL: @types
// CHECK-SAME: %{{.*}}: !tt.ptr<i32> {{{.*}}}, %[[ROWS:[a-z0-9]+]]: i64, %[[COLUMNS:[a-z0-9]+]]: i64, %{{.*}}: i64 {{{.*}}}, %{{.*}}: i64, %[[NAN:.*]]: i1, %{{.*}}: !tt.ptr<i8> {{{.*}}}, %[[SIZE:[a-z0-9]+]]: i64
// CHECK-DAG: %[[C15:.*]] = arith.constant 15 : i64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i64
// CHECK-DAG: arith.andi %[[COLUMNS]], %[[C1]]
// CHECK-DAG: arith.andi %[[SIZE]], %[[C15]]
// CHECK-NOT: arith.extui %[[NAN]]
// CHECK: scf.if
tt.func public @types(%x: !tt.tensordesc<tensor<16x2xi32>>, %y: !tt.tensordesc<tensor<64xi8>>, %i: i32) {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<16x2xi32>> -> tensor<16x2xi32>
  tt.descriptor_store %x[%i, %i], %v : !tt.tensordesc<tensor<16x2xi32>>, tensor<16x2xi32>
  %w = tt.descriptor_load %y[%i] : !tt.tensordesc<tensor<64xi8>> -> tensor<64xi8>
  tt.descriptor_store %y[%i], %w : !tt.tensordesc<tensor<64xi8>>, tensor<64xi8>
  tt.return
}

// -----

// Not: descriptors that the kernel makes, arguments without uses, functions that are no kernels, kernels with two ends.
// CHECK-LABEL: @made
// CHECK-NOT: scf.if
tt.func public @made(%p: !tt.ptr<f16>, %unused: !tt.tensordesc<tensor<16x64xf16>>, %i: i32, %s: i64) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%i, %i], [%s, %c1] : <f16>, <tensor<16x64xf16>>
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
}
// Nor loads whose values only atomics take.
// CHECK-LABEL: @combined
// CHECK-NOT: scf.if
tt.func public @combined(%x: !tt.tensordesc<tensor<16x64xf32>>, %i: i32) {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<16x64xf32>> -> tensor<16x64xf32>
  tt.descriptor_reduce add, %x[%i, %i], %v : !tt.tensordesc<tensor<16x64xf32>>, tensor<16x64xf32>
  tt.return
}
tt.func private @callee(%x: !tt.tensordesc<tensor<16x64xf16>>, %i: i32) attributes {noinline = true} {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %x[%i, %i], %v : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
}
tt.func public @ends(%x: !tt.tensordesc<tensor<16x64xf16>>, %i: i32, %c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %x[%i, %i], %v : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
^bb2:
  %w = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %x[%i, %i], %w : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
}

// -----

// A kernel that may return before it does anything: what comes then has versions.
// CHECK-LABEL: @early
// CHECK: cf.cond_br
// CHECK: tt.return
// CHECK: scf.if
// CHECK: } else {
// CHECK: tt.return
tt.func public @early(%x: !tt.tensordesc<tensor<16x64xf16>>, %i: i32, %c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %x[%i, %i], %v : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
}

// -----

// An i1 has a byte in memory: a vector has sixteen.
// CHECK-LABEL: @bits
// CHECK-SAME: %{{.*}}: !tt.ptr<i1> {{{.*}}}, %[[SIZE:[a-z0-9]+]]: i64
// CHECK-DAG: %[[C15:.*]] = arith.constant 15 : i64
// CHECK: arith.andi %[[SIZE]], %[[C15]]
tt.func public @bits(%d: !tt.tensordesc<tensor<1024xi1>>, %m: tensor<1024xi1>, %c: i32) {
  tt.descriptor_store %d[%c], %m : !tt.tensordesc<tensor<1024xi1>>, tensor<1024xi1>
  tt.return
}
