// alignment-versions: where no dimension is known to run, a kernel tests for strides of 1 that Triton does not specialise.
// RUN: tessera opt %s --split-input-file -alignment-versions -cse --target sm_90a --remarks 2>&1 | FileCheck %s
// RUN: tessera opt %s --split-input-file -alignment-versions -cse --target gfx942 --remarks 2>&1 | FileCheck %s

// The stride of rows is a multiple of 16, that of columns may be 1. A program without rows returns first.
// CHECK: the kernel has a second version, 'contiguous', for launches in which argument 3 is 1; the other one is 'general' [alignment-versions:AlignmentVersions]
// CHECK-LABEL: @strides
// CHECK-SAME: %[[ROW:[A-Za-z0-9_]+]]: i64 {tt.divisibility = 16 : i32}, %[[COLUMN:[A-Za-z0-9_]+]]: i64
// CHECK: cf.cond_br
// CHECK: tt.return
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: %[[IS_ONE:.*]] = arith.cmpi eq, %[[COLUMN]], %[[ONE]] : i64
// CHECK: scf.if %[[IS_ONE]] {
// CHECK:   tt.splat %[[ROW]]
// CHECK:   tt.splat %{{.*}} : i64 -> tensor<1x64xi64>
// CHECK:   tt.dot
// CHECK: } else {
// CHECK:   tt.splat %[[ROW]]
// CHECK:   tt.splat %[[COLUMN]]
// CHECK:   tt.dot
// CHECK: } {tessera.versions = "contiguous"}
// CHECK-NEXT: tt.return
tt.func public @strides(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %row: i64 {tt.divisibility = 16 : i32}, %column: i64, %n: i32, %empty: i1) {
  cf.cond_br %empty, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %b = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %i64 = arith.extsi %i : tensor<64x1xi32> to tensor<64x1xi64>
  %j64 = arith.extsi %j : tensor<1x64xi32> to tensor<1x64xi64>
  %s = tt.splat %row : i64 -> tensor<64x1xi64>
  %start = arith.muli %i64, %s : tensor<64x1xi64>
  %t = tt.splat %column : i64 -> tensor<1x64xi64>
  %at = arith.muli %j64, %t : tensor<1x64xi64>
  %starts = tt.broadcast %start : tensor<64x1xi64> -> tensor<64x64xi64>
  %ats = tt.broadcast %at : tensor<1x64xi64> -> tensor<64x64xi64>
  %offsets = arith.addi %starts, %ats : tensor<64x64xi64>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %p, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  %d = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %v = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %sum = tt.dot %v, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %o = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Nothing is gained by a stride of 1 where a dimension runs already: columns do.
// CHECK-NOT: AlignmentVersions
// CHECK-LABEL: @runs
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @runs(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %row: i64 {tt.divisibility = 16 : i32}, %batch: i64, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %b = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %i64 = arith.extsi %i : tensor<64x1xi32> to tensor<64x1xi64>
  %s = tt.splat %row : i64 -> tensor<64x1xi64>
  %start = arith.muli %i64, %s : tensor<64x1xi64>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  %rows = tt.addptr %p, %start : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi64>
  %all = tt.broadcast %rows : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  %columns = tt.broadcast %j : tensor<1x64xi32> -> tensor<64x64xi32>
  %q = tt.addptr %all, %columns : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %d = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %v = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %sum = tt.dot %v, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %o = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
