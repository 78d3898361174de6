// full-block-versions: kernels that stay as they are, by what the comparison is of. With the indices alone and an argument
// of any value, @rows of full_block_versions.mlir has two versions.
// RUN: tessera opt %s --split-input-file -full-block-versions --target sm_90a | FileCheck %s

// Two scalars are added to the indices: which of them wraps around is not tested.
// CHECK-LABEL: @two_starts
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @two_starts(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16>
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %ms = tt.splat %m : i32 -> tensor<1024xi32>
  %j = arith.addi %i, %ms : tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %j, %end : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  tt.store %p, %zero, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// What is added to the extension of a 32-bit sum does not wrap around with it.
// CHECK-LABEL: @added_after_extension
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @added_after_extension(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i64) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16>
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %far = arith.constant dense<5> : tensor<1024xi64>
  %w = arith.extsi %i : tensor<1024xi32> to tensor<1024xi64>
  %j = arith.addi %w, %far : tensor<1024xi64>
  %end = tt.splat %n : i64 -> tensor<1024xi64>
  %mask = arith.cmpi slt, %j, %end : tensor<1024xi64>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  tt.store %p, %zero, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// The sum of the range and the greatest 32-bit number wraps around by itself.
// CHECK-LABEL: @far
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @far(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16>
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %far = arith.constant dense<2147483647> : tensor<1024xi32>
  %j = arith.addi %i, %far : tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %j, %end : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  tt.store %p, %zero, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// A divisor of the bound is stated: launches with other bounds have another kernel.
// CHECK-LABEL: @divisible
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @divisible(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 2 : i32}) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16>
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  tt.store %p, %zero, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// The bound is computed by more operations than are worth to be repeated.
// CHECK-LABEL: @computed_by_much
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @computed_by_much(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16>
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %m1 = arith.addi %n, %pid : i32
  %m2 = arith.xori %m1, %pid : i32
  %m3 = arith.addi %m2, %pid : i32
  %m4 = arith.xori %m3, %pid : i32
  %m5 = arith.addi %m4, %pid : i32
  %m6 = arith.xori %m5, %pid : i32
  %m7 = arith.addi %m6, %pid : i32
  %m8 = arith.xori %m7, %pid : i32
  %m9 = arith.addi %m8, %pid : i32
  %m10 = arith.xori %m9, %pid : i32
  %m11 = arith.addi %m10, %pid : i32
  %m12 = arith.xori %m11, %pid : i32
  %m13 = arith.addi %m12, %pid : i32
  %m14 = arith.xori %m13, %pid : i32
  %m15 = arith.addi %m14, %pid : i32
  %m16 = arith.xori %m15, %pid : i32
  %m17 = arith.addi %m16, %pid : i32
  %end = tt.splat %m17 : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  tt.store %p, %zero, %mask : tensor<1024x!tt.ptr<f16>>
  tt.return
}
