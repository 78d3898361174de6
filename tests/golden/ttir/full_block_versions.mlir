// full-block-versions: a kernel tests whether its block is full, and then has no masks that tell neighbours apart.
// RUN: tessera opt %s --split-input-file -full-block-versions -canonicalize -cse --target sm_90a --remarks 2>&1 | FileCheck %s
// RUN: tessera opt %s --split-input-file -full-block-versions -canonicalize -cse --target gfx942 --remarks 2>&1 | FileCheck %s

// Indices of 32 bits, summed as 64-bit numbers.
// CHECK: the kernel has a second version, 'full', for programs whose block has no element that is masked for being beyond the end; the other one is 'general' [full-block-versions:FullBlockVersions]
// CHECK-LABEL: @rows
// CHECK-SAME: %[[N:[A-Za-z0-9_]+]]: i32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 1023 : i64
// CHECK: %[[BOUND:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK: %[[START:.*]] = arith.muli
// CHECK: %[[WIDE:.*]] = arith.extsi %[[START]] : i32 to i64
// CHECK: %[[LAST:.*]] = arith.addi %[[WIDE]], %[[HIGH]] : i64
// CHECK: %[[FULL:.*]] = arith.cmpi slt, %[[LAST]], %[[BOUND]] : i64
// CHECK: scf.if %[[FULL]] {
// CHECK:   %[[V:.*]] = tt.load %{{[A-Za-z0-9_]+}} : tensor<1024x!tt.ptr<f16>>
// CHECK:   tt.store %{{[A-Za-z0-9_]+}}, %[[V]] : tensor<1024x!tt.ptr<f16>>
// CHECK: } else {
// CHECK:   %[[MASK:.*]] = arith.cmpi slt
// CHECK:   tt.load %{{.*}}, %[[MASK]]
// CHECK:   tt.store %{{.*}}, %{{.*}}, %[[MASK]]
// CHECK: } {tessera.versions = "full"}
tt.func public @rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %px = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %py = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %v = tt.load %px, %mask : tensor<1024x!tt.ptr<f16>>
  tt.store %py, %v, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// Columns that are extended to 64 bits after the sum. The mask of rows does not split the access, and stays.
// CHECK-LABEL: @columns
// CHECK: %[[FULL:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : i64
// CHECK: scf.if %[[FULL]] {
// CHECK:   %[[ROWS:.*]] = tt.broadcast %{{.*}} : tensor<4x1xi1> -> tensor<4x64xi1>
// CHECK:   tt.store %{{.*}}, %{{.*}}, %[[ROWS]]
// CHECK: } else {
// CHECK:   %[[BOTH:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<4x64xi1>
// CHECK:   tt.store %{{.*}}, %{{.*}}, %[[BOTH]]
tt.func public @columns(%y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: i32, %last: i64) {
  %zero = arith.constant dense<0.000000e+00> : tensor<4x64xf16>
  %size = arith.constant 64 : i32
  %stride = arith.constant dense<128> : tensor<4x1xi64>
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %s, %r : tensor<64xi32>
  %wide = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %end = tt.splat %last : i64 -> tensor<64xi64>
  %inside = arith.cmpi sge, %end, %wide : tensor<64xi64>
  %inside2 = tt.expand_dims %inside {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
  %insides = tt.broadcast %inside2 : tensor<1x64xi1> -> tensor<4x64xi1>
  %q = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %m = tt.splat %rows : i32 -> tensor<4xi32>
  %row = arith.cmpi slt, %q, %m : tensor<4xi32>
  %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<4xi1> -> tensor<4x1xi1>
  %rowMasks = tt.broadcast %row2 : tensor<4x1xi1> -> tensor<4x64xi1>
  %mask = arith.andi %rowMasks, %insides : tensor<4x64xi1>
  %j = tt.expand_dims %wide {axis = 0 : i32} : tensor<64xi64> -> tensor<1x64xi64>
  %jj = tt.broadcast %j : tensor<1x64xi64> -> tensor<4x64xi64>
  %q2 = tt.expand_dims %q {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %q64 = arith.extsi %q2 : tensor<4x1xi32> to tensor<4x1xi64>
  %o = arith.muli %q64, %stride : tensor<4x1xi64>
  %oo = tt.broadcast %o : tensor<4x1xi64> -> tensor<4x64xi64>
  %at = arith.addi %oo, %jj : tensor<4x64xi64>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<4x64x!tt.ptr<f16>>
  %py = tt.addptr %ys, %at : tensor<4x64x!tt.ptr<f16>>, tensor<4x64xi64>
  tt.store %py, %zero, %mask : tensor<4x64x!tt.ptr<f16>>
  tt.return
}

// -----

// A start of 64 bits: the sum must not wrap around. The number is known.
// CHECK-LABEL: @wide
// CHECK-DAG: %[[GREATEST:.*]] = arith.constant 9223372036854775296 : i64
// CHECK-DAG: %[[N:.*]] = arith.constant 1001 : i64
// CHECK: %[[ENDS:.*]] = arith.cmpi slt, %{{.*}}, %[[N]] : i64
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %{{.*}}, %[[GREATEST]] : i64
// CHECK: %[[FULL:.*]] = arith.andi %[[ENDS]], %[[FITS]] : i1
// CHECK: scf.if %[[FULL]] {
tt.func public @wide(%y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %start: i64 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf16>
  %end = arith.constant dense<1001> : tensor<512xi64>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %r64 = arith.extsi %r : tensor<512xi32> to tensor<512xi64>
  %s = tt.splat %start : i64 -> tensor<512xi64>
  %i = arith.addi %s, %r64 : tensor<512xi64>
  %mask = arith.cmpi slt, %i, %end : tensor<512xi64>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %py = tt.addptr %ys, %i : tensor<512x!tt.ptr<f16>>, tensor<512xi64>
  tt.store %py, %zero, %mask : tensor<512x!tt.ptr<f16>>
  tt.return
}
