// Offsets of buffer loads that advance with an index that the loop carries: each is carried as a whole. The rows of the
// first kernel are named by others, so that none is a known distance from another: their sums are computed before the
// loop, and a scalar offset advances. Those of the second are a uniform number apart and share a carried offset, which
// takes one addition an iteration.
// RUN: tessera compile %s --target gfx1201 --kernel gathered --num-warps 4 --emit llir | FileCheck %s
// CHECK-LABEL: @gathered(
// CHECK: {{^}}for:
// CHECK: %[[S:scalar.offset.*]] = phi i32
// CHECK-NOT: add i32
// CHECK: @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %{{.*}}, i32 %[[S]],
// CHECK-NOT: add i32
// CHECK: @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %{{.*}}, i32 %[[S]],
// CHECK: add i32 %[[S]], 512
// CHECK-LABEL: @rows(
// CHECK: %[[APART:.*]] = call i32 @llvm.amdgcn.readfirstlane
// CHECK: {{^}}for:
// CHECK: %[[A:offset.*]] = phi i32
// CHECK-NOT: %offset{{.*}} = phi
// CHECK: %[[B:.*]] = add i32 %[[A]], %[[APART]]
// CHECK: @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %[[A]],
// CHECK: @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %[[B]],
// CHECK: add i32 %[[A]], 512
tt.func public @gathered(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %which: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
  %step = arith.constant dense<128> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ws = tt.splat %which : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %wp = tt.addptr %ws, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %row = tt.load %wp : tensor<16x!tt.ptr<i32>>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %rs = arith.muli %r1, %s : tensor<16x1xi32>
  %ra = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x64xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros, %k = %c) -> (tensor<16x64xf32>, tensor<64xi32>) : i32 {
    gpu.barrier // so that the loop is not unrolled (unroll_loads)
    %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ka = tt.broadcast %k0 : tensor<1x64xi32> -> tensor<16x64xi32>
    %at = arith.addi %ra, %ka : tensor<16x64xi32>
    %p = tt.addptr %xs, %at : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
    %v = tt.load %p : tensor<16x64x!tt.ptr<f32>>
    %a = arith.addf %acc, %v : tensor<16x64xf32>
    %next = arith.addi %k, %step : tensor<64xi32>
    scf.yield %a, %next : tensor<16x64xf32>, tensor<64xi32>
  }
  %c1r = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ca = tt.broadcast %c1r : tensor<1x64xi32> -> tensor<16x64xi32>
  %end = arith.addi %ra, %ca : tensor<16x64xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %end : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  tt.store %op, %sum#0 : tensor<16x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
  %step = arith.constant dense<128> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %rs = arith.muli %r1, %s : tensor<16x1xi32>
  %ra = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x64xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros, %k = %c) -> (tensor<16x64xf32>, tensor<64xi32>) : i32 {
    %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ka = tt.broadcast %k0 : tensor<1x64xi32> -> tensor<16x64xi32>
    %at = arith.addi %ra, %ka : tensor<16x64xi32>
    %p = tt.addptr %xs, %at : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
    %v = tt.load %p : tensor<16x64x!tt.ptr<f32>>
    %a = arith.addf %acc, %v : tensor<16x64xf32>
    %next = arith.addi %k, %step : tensor<64xi32>
    scf.yield %a, %next : tensor<16x64xf32>, tensor<64xi32>
  }
  %c1r = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ca = tt.broadcast %c1r : tensor<1x64xi32> -> tensor<16x64xi32>
  %end = arith.addi %ra, %ca : tensor<16x64xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %end : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  tt.store %op, %sum#0 : tensor<16x64x!tt.ptr<f32>>
  tt.return
}
