// run-loads-ahead: a loop that sums and stores, but does not synchronise. A block that loads 8 KiB in an iteration hides
// latency by other blocks, and its loop stays as it is; with a quarter of the elements loads are issued ahead.
// RUN: tessera opt %s -run-loads-ahead | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @much
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  // CHECK-COUNT-1: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.return
  tt.func public @much(%p: tensor<2048x!tt.ptr<f32>, #row>, %q: tensor<2048x!tt.ptr<f32>, #row>, %o: tensor<2048x!tt.ptr<f32>, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<2048xf32, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %zero) -> (tensor<2048xf32, #row>) : i32 {
      %at = tt.splat %i : i32 -> tensor<2048xi32, #row>
      %from = tt.addptr %p, %at : tensor<2048x!tt.ptr<f32>, #row>, tensor<2048xi32, #row>
      %x = tt.load %from : tensor<2048x!tt.ptr<f32>, #row>
      %h1 = arith.addf %h, %x : tensor<2048xf32, #row>
      %to = tt.addptr %q, %at : tensor<2048x!tt.ptr<f32>, #row>, tensor<2048xi32, #row>
      tt.store %to, %x : tensor<2048x!tt.ptr<f32>, #row>
      scf.yield %h1 : tensor<2048xf32, #row>
    }
    tt.store %o, %r : tensor<2048x!tt.ptr<f32>, #row>
    tt.return
  }

  // CHECK-LABEL: @little
  // CHECK-COUNT-4: tt.load
  // CHECK: scf.for
  // CHECK: tt.return
  tt.func public @little(%p: tensor<512x!tt.ptr<f32>, #row>, %q: tensor<512x!tt.ptr<f32>, #row>, %o: tensor<512x!tt.ptr<f32>, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %zero) -> (tensor<512xf32, #row>) : i32 {
      %at = tt.splat %i : i32 -> tensor<512xi32, #row>
      %from = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      %x = tt.load %from : tensor<512x!tt.ptr<f32>, #row>
      %h1 = arith.addf %h, %x : tensor<512xf32, #row>
      %to = tt.addptr %q, %at : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      tt.store %to, %x : tensor<512x!tt.ptr<f32>, #row>
      scf.yield %h1 : tensor<512xf32, #row>
    }
    tt.store %o, %r : tensor<512x!tt.ptr<f32>, #row>
    tt.return
  }
}
