// run-loads-ahead: a loop whose iterations exchange values between threads more than twice is not unrolled: its loads are
// issued one iteration ahead. There is no second loop: no iterations remain.
// RUN: tessera opt %s -run-loads-ahead -canonicalize | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scan
  // CHECK: tt.load {{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  // CHECK-NOT: tt.load
  // CHECK: tt.scan
  // CHECK: tt.load {{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>
  // CHECK-NOT: tt.load
  // CHECK: scf.yield
  // CHECK-NOT: scf.for
  // CHECK: tt.return
  tt.func public @scan(%p: tensor<128x!tt.ptr<f32>, #row>, %q: tensor<128x!tt.ptr<f32>, #row>, %n: i32, %s: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant dense<128> : tensor<128xi32, #row>
    %zero = arith.constant 0.000000e+00 : f32
    %r:3 = scf.for %i = %c0 to %n step %s iter_args(%at = %p, %to = %q, %before = %zero) -> (tensor<128x!tt.ptr<f32>, #row>, tensor<128x!tt.ptr<f32>, #row>, f32) : i32 {
      %x = tt.load %at : tensor<128x!tt.ptr<f32>, #row>
      %sums = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %b : f32
        tt.scan.return %m : f32
      }) : (tensor<128xf32, #row>) -> tensor<128xf32, #row>
      %o = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %b : f32
        tt.reduce.return %m : f32
      }) : (tensor<128xf32, #row>) -> f32
      %befores = tt.splat %before : f32 -> tensor<128xf32, #row>
      %y = arith.addf %sums, %befores : tensor<128xf32, #row>
      tt.store %to, %y : tensor<128x!tt.ptr<f32>, #row>
      %now = arith.addf %before, %o : f32
      %next = tt.addptr %at, %step : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
      %nextTo = tt.addptr %to, %step : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
      scf.yield %next, %nextTo, %now : tensor<128x!tt.ptr<f32>, #row>, tensor<128x!tt.ptr<f32>, #row>, f32
    }
    tt.return
  }
}
