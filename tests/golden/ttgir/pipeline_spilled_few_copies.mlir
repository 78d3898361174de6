// tritongpu-pipeline: a loop whose tensors take more registers than a thread has (two accumulators of 128) is pipelined all
// the same if its threads copy little, two times 16 bytes in an iteration. pipeline_spilled.mlir has loops that are not.
// RUN: tessera compile %s --target sm_90a --num-warps 8 --num-stages 2 --exact-num-warps --emit ttgir -o - | FileCheck %s
// CHECK-LABEL: @few_copies
// CHECK: scf.for
// CHECK-COUNT-2: ttg.async_copy_global_to_local
tt.func public @few_copies(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.000000e+00> : tensor<512x32xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<512x64xf32>
  %w512 = arith.constant dense<64> : tensor<512x1xi32>
  %w32 = arith.constant dense<64> : tensor<32x1xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %column = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %r512 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %q0 = tt.expand_dims %r512 {axis = 1 : i32} : tensor<512xi32> -> tensor<512x1xi32>
  %q1 = arith.muli %q0, %w512 : tensor<512x1xi32>
  %q2 = tt.broadcast %q1 : tensor<512x1xi32> -> tensor<512x64xi32>
  %q3 = tt.broadcast %column : tensor<1x64xi32> -> tensor<512x64xi32>
  %q = arith.addi %q2, %q3 : tensor<512x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<512x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %q : tensor<512x64x!tt.ptr<f16>>, tensor<512x64xi32>
  %x = tt.load %ap : tensor<512x64x!tt.ptr<f16>>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %k0 = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %k1 = arith.muli %k0, %w32 : tensor<32x1xi32>
  %k2 = tt.broadcast %k1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %k3 = tt.broadcast %column : tensor<1x64xi32> -> tensor<32x64xi32>
  %kv = arith.addi %k2, %k3 : tensor<32x64xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %cb = tt.splat %a : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %d:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero, %t = %zero) -> (tensor<512x64xf32>, tensor<512x64xf32>) : i32 {
    %at = tt.splat %k : i32 -> tensor<32x64xi32>
    %i = arith.addi %at, %kv : tensor<32x64xi32>
    %yp = tt.addptr %bs, %i : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %y = tt.load %yp : tensor<32x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<32x64xf16> -> tensor<64x32xf16>
    %p = tt.dot %x, %yt, %none : tensor<512x64xf16> * tensor<64x32xf16> -> tensor<512x32xf32>
    %h = arith.truncf %p : tensor<512x32xf32> to tensor<512x32xf16>
    %zp = tt.addptr %cb, %i : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %z = tt.load %zp : tensor<32x64x!tt.ptr<f16>>
    %u = tt.dot %h, %z, %s : tensor<512x32xf16> * tensor<32x64xf16> -> tensor<512x64xf32>
    %g = arith.addf %h, %h : tensor<512x32xf16>
    %v = tt.dot %g, %z, %t : tensor<512x32xf16> * tensor<32x64xf16> -> tensor<512x64xf32>
    scf.yield %u, %v : tensor<512x64xf32>, tensor<512x64xf32>
  }
  %e = arith.addf %d#0, %d#1 : tensor<512x64xf32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<512x64x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %q : tensor<512x64x!tt.ptr<f32>>, tensor<512x64xi32>
  tt.store %cp, %e : tensor<512x64x!tt.ptr<f32>>
  tt.return
}
