// tritongpu-remove-layout-conversions: loads of few elements whose masked elements are a loop-carried value.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#quarter = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // What was found before stands for masked elements: the loop carries it in the layout in which it is found.
  // CHECK-LABEL: @found_load
  // CHECK: scf.for
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield
  tt.func public @found_load(%table: !tt.ptr<f32>, %o: !tt.ptr<f32>, %x: tensor<16x128x!tt.ptr<i32>, #quarter>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zeros = arith.constant dense<0> : tensor<16xi32, #ttg.slice<{dim = 1, parent = #quarter}>>
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #a>
    %ts = tt.splat %table : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #a>
    %tp = tt.addptr %ts, %r : tensor<16x!tt.ptr<f32>, #a>, tensor<16xi32, #a>
    %first = tt.load %tp : tensor<16x!tt.ptr<f32>, #a>
    %found = scf.for %k = %zero to %n step %one iter_args(%before = %first) -> (tensor<16xf32, #a>) : i32 {
      %v = tt.load %x : tensor<16x128x!tt.ptr<i32>, #quarter>
      %m = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%p: i32, %q: i32):
        %t = arith.maxsi %p, %q : i32
        tt.reduce.return %t : i32
      }) : (tensor<16x128xi32, #quarter>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #quarter}>>
      %is = arith.cmpi sgt, %m, %zeros : tensor<16xi32, #ttg.slice<{dim = 1, parent = #quarter}>>
      %c = ttg.convert_layout %m : tensor<16xi32, #ttg.slice<{dim = 1, parent = #quarter}>> -> tensor<16xi32, #a>
      %mask = ttg.convert_layout %is : tensor<16xi1, #ttg.slice<{dim = 1, parent = #quarter}>> -> tensor<16xi1, #a>
      %at = tt.addptr %tp, %c : tensor<16x!tt.ptr<f32>, #a>, tensor<16xi32, #a>
      %y = tt.load %at, %mask, %before : tensor<16x!tt.ptr<f32>, #a>
      scf.yield %y : tensor<16xf32, #a>
    }
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #a>
    %op = tt.addptr %os, %r : tensor<16x!tt.ptr<f32>, #a>, tensor<16xi32, #a>
    tt.store %op, %found : tensor<16x!tt.ptr<f32>, #a>
    tt.return
  }
}
