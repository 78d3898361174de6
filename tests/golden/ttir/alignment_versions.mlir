// alignment-versions: a kernel whose dots load rows of unknown alignment tests whether its sizes and strides make them
// aligned. Those count without which an access would be narrower: not the number of rows, and no stride of the result.
// RUN: tessera opt %s --split-input-file -alignment-versions -cse --target sm_90a --remarks 2>&1 | FileCheck %s
// RUN: tessera opt %s --split-input-file -alignment-versions -cse --target gfx942 --remarks 2>&1 | FileCheck %s

// A has rows of %K elements from %stride to %stride; its rows beyond %M are masked.
// CHECK: the kernel has a second version, 'aligned', for launches in which 8 divides argument 3, argument 4; the other one is 'general' [alignment-versions:AlignmentVersions]
// CHECK-LABEL: @matmul
// CHECK-SAME: %[[M:[A-Za-z0-9_]+]]: i32, %[[K:[A-Za-z0-9_]+]]: i32, %[[STRIDE:[A-Za-z0-9_]+]]: i64
// CHECK: %[[LOW:.*]] = arith.trunci %[[STRIDE]] : i64 to i32
// CHECK: %[[BITS:.*]] = arith.ori %[[K]], %[[LOW]]
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK: %[[REST:.*]] = arith.andi %[[BITS]], %[[SEVEN]]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %[[ZERO]]
// CHECK: scf.if %[[ALIGNED]] {
// CHECK:   %[[K8:.*]] = arith.andi %[[K]], %{{.*}} : i32
// CHECK:   %[[STRIDE8:.*]] = arith.andi %[[STRIDE]], %{{.*}} : i64
// CHECK:   tt.splat %[[M]]
// CHECK:   tt.splat %[[STRIDE8]]
// CHECK:   scf.for %{{.*}} to %[[K8]]
// CHECK:   tt.store
// CHECK: } else {
// CHECK:   tt.splat %[[STRIDE]]
// CHECK:   scf.for %{{.*}} to %[[K]]
// CHECK:   tt.store
// CHECK: }
// CHECK-NEXT: tt.return
tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %M: i32, %K: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %none = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
  %b = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %m = tt.splat %M : i32 -> tensor<64x1xi32>
  %inside = arith.cmpi slt, %row, %m : tensor<64x1xi32>
  %insides = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
  %row64 = arith.extsi %row : tensor<64x1xi32> to tensor<64x1xi64>
  %s = tt.splat %stride : i64 -> tensor<64x1xi64>
  %start = arith.muli %row64, %s : tensor<64x1xi64>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  %rows = tt.addptr %p, %start : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi64>
  %all = tt.broadcast %rows : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  %d = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %left = arith.subi %K, %k : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %exists = arith.cmpi slt, %column, %lefts : tensor<1x64xi32>
    %exist = tt.broadcast %exists : tensor<1x64xi1> -> tensor<64x64xi1>
    %mask = arith.andi %exist, %insides : tensor<64x64xi1>
    %k0 = tt.splat %k : i32 -> tensor<1x64xi32>
    %at = arith.addi %column, %k0 : tensor<1x64xi32>
    %ats = tt.broadcast %at : tensor<1x64xi32> -> tensor<64x64xi32>
    %q = tt.addptr %all, %ats : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %v = tt.load %q, %mask, %none : tensor<64x64x!tt.ptr<f16>>
    %sum = tt.dot %v, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %o = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %o, %d, %insides : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows whose alignment is known, and words of any alignment that are copied as they are: one version.
// CHECK-NOT: AlignmentVersions
// CHECK-LABEL: @aligned
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @aligned(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %b = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %start = arith.muli %row, %s : tensor<64x1xi32>
  %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %starts, %columns : tensor<64x64xi32>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %p, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
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

// Without a dot in a loop there is nothing to gain: lanes beside each other read whole sectors.
// CHECK-LABEL: @rows
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @rows(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %start = arith.muli %k, %stride : i32
    %p = tt.addptr %a, %start : !tt.ptr<f16>, i32
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
    %q = tt.addptr %ps, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    %v = tt.load %q : tensor<64x!tt.ptr<f16>>
    tt.store %q, %v : tensor<64x!tt.ptr<f16>>
  }
  tt.return
}
