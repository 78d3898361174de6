// full-block-versions: kernels that stay as they are.
// RUN: tessera opt %s --split-input-file -full-block-versions --target sm_90a | FileCheck %s
// RUN: tessera opt %s --split-input-file -full-block-versions --target gfx942 | FileCheck %s

// 16 divides the number; the number is loaded; nothing aligns the addresses; the block is the only one.
// CHECK-LABEL: @others
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @others(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16>, %p: !tt.ptr<i32>, %n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16>
  %size = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %px = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<1024xi32>
  tt.store %px, %zero, %mask : tensor<1024x!tt.ptr<f16>>
  %loaded = tt.load %p : !tt.ptr<i32>
  %end2 = tt.splat %loaded : i32 -> tensor<1024xi32>
  %mask2 = arith.cmpi slt, %i, %end2 : tensor<1024xi32>
  tt.store %px, %zero, %mask2 : tensor<1024x!tt.ptr<f16>>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %py = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %end3 = tt.splat %m : i32 -> tensor<1024xi32>
  %mask3 = arith.cmpi slt, %i, %end3 : tensor<1024xi32>
  tt.store %py, %zero, %mask3 : tensor<1024x!tt.ptr<f16>>
  %p0 = tt.addptr %xs, %r : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %mask4 = arith.cmpi slt, %r, %end3 : tensor<1024xi32>
  tt.store %p0, %zero, %mask4 : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// A loop in a branch.
// CHECK-LABEL: @loop_in_branch
// CHECK-NOT: tessera.versions
// CHECK: tt.return
tt.func public @loop_in_branch(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: !tt.ptr<i32>, %start: i32, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf16>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %ss = tt.splat %start : i32 -> tensor<512xi32>
  %i = arith.addi %ss, %r : tensor<512xi32>
  %end = tt.splat %n : i32 -> tensor<512xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %px = tt.addptr %xs, %r : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
  tt.store %px, %zero, %mask : tensor<512x!tt.ptr<f16>>
  scf.if %c {
    scf.for %k = %c0 to %n step %c1 : i32 {
      tt.store %s, %k : !tt.ptr<i32>
    }
  }
  tt.return
}
