// run-loads-ahead on AMD: a loop that requests stages loads for the next iteration before this iteration's work, but not
// what is the same in each iteration. A loop that requests none, and one that requests a single stage, stay.
// RUN: tessera opt %s -run-loads-ahead -canonicalize | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32, ttg.target = "hip:gfx942"} {
  // CHECK-LABEL: @requested
  // CHECK: %[[FIRST:.*]] = tt.load %{{.*}}, %{{.*}} : tensor<256x!tt.ptr<f32>
  // CHECK-NOT: tt.load
  // CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %[[FIRST]])
  // CHECK: arith.cmpi slt
  // CHECK: %[[NEXT:.*]] = tt.load %{{.*}}, %{{.*}} : tensor<256x!tt.ptr<f32>
  // CHECK: "tt.reduce"(%[[X]])
  // CHECK: tt.load %{{[^,]*}} : tensor<256x!tt.ptr<f32>
  // CHECK: tt.store
  // CHECK: scf.yield %[[NEXT]] : tensor<256xf32
  // CHECK-NEXT: } {tt.num_stages = 2 : i32}
  tt.func public @requested(%p: tensor<256x!tt.ptr<f32>, #row>, %w: tensor<256x!tt.ptr<f32>, #row>, %q: tensor<256x!tt.ptr<f32>, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c256 = arith.constant 256 : i32
    scf.for %i = %c0 to %n step %c256 : i32 {
      %at = tt.splat %i : i32 -> tensor<256xi32, #row>
      %from = tt.addptr %p, %at : tensor<256x!tt.ptr<f32>, #row>, tensor<256xi32, #row>
      %x = tt.load %from : tensor<256x!tt.ptr<f32>, #row>
      %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %b : f32
        tt.reduce.return %m : f32
      }) : (tensor<256xf32, #row>) -> f32
      %sums = tt.splat %sum : f32 -> tensor<256xf32, #row>
      %weight = tt.load %w : tensor<256x!tt.ptr<f32>, #row>
      %y = arith.mulf %sums, %weight : tensor<256xf32, #row>
      %to = tt.addptr %q, %at : tensor<256x!tt.ptr<f32>, #row>, tensor<256xi32, #row>
      tt.store %to, %y : tensor<256x!tt.ptr<f32>, #row>
    } {tt.num_stages = 2 : i32}
    tt.return
  }

  // CHECK-LABEL: @not_requested
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK: tt.load
  // CHECK: "tt.reduce"
  // CHECK: tt.store
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.return
  tt.func public @not_requested(%p: tensor<256x!tt.ptr<f32>, #row>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %at = tt.splat %i : i32 -> tensor<256xi32, #row>
      %from = tt.addptr %p, %at : tensor<256x!tt.ptr<f32>, #row>, tensor<256xi32, #row>
      %x = tt.load %from : tensor<256x!tt.ptr<f32>, #row>
      %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %b : f32
        tt.reduce.return %m : f32
      }) : (tensor<256xf32, #row>) -> f32
      %to = tt.addptr %q, %i : !tt.ptr<f32>, i32
      tt.store %to, %sum : !tt.ptr<f32>
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %at = tt.splat %i : i32 -> tensor<256xi32, #row>
      %from = tt.addptr %p, %at : tensor<256x!tt.ptr<f32>, #row>, tensor<256xi32, #row>
      %x = tt.load %from : tensor<256x!tt.ptr<f32>, #row>
      %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %m = arith.maxnumf %a, %b : f32
        tt.reduce.return %m : f32
      }) : (tensor<256xf32, #row>) -> f32
      %to = tt.addptr %q, %i : !tt.ptr<f32>, i32
      tt.store %to, %sum : !tt.ptr<f32>
    } {tt.num_stages = 1 : i32}
    tt.return
  }
}
