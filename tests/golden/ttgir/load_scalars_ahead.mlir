// Scalars that a loop with dots loads are loaded for the next iteration: the decay, whose address is computed from the
// counter, and the scale, whose pointer the loop carries. Not the page, on which the address of a load depends that feeds
// no dot's operand, and not the scalar that the loop stores to. For an iteration that does not exist, an address divides
// by a power of two.
// RUN: tessera opt %s -load-scalars-ahead | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @decay
  // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %{{.*}}, %arg4
  // CHECK: %[[FIRST:.*]] = tt.load %{{.*}}, %[[RUNS]] : !tt.ptr<f32>
  // CHECK: %[[SCALE:.*]] = tt.load %arg3, %{{.*}} : !tt.ptr<f32>
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %arg4 step %[[STEP:.*]] iter_args({{.*}} = %arg3, %[[DECAY:.*]] = %[[FIRST]], %{{.*}} = %[[SCALE]])
  // CHECK: %[[LEFT:.*]] = arith.subi %arg4, %[[I]]
  // CHECK: %[[GOES_ON:.*]] = arith.cmpi ugt, %[[LEFT]], %[[STEP]]
  // CHECK: %[[NEXT:.*]] = tt.load %{{.*}}, %[[GOES_ON]] : !tt.ptr<f32>
  // CHECK: tt.splat %[[DECAY]]
  // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]], %{{.*}}
  tt.func public @decay(%x: tensor<64x16xf16, #a>, %y: tensor<16x64xf16, #b>, %g: !tt.ptr<f32>, %s: !tt.ptr<f32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %ps = %s) -> (tensor<64x64xf32, #mma>, !tt.ptr<f32>) : i32 {
      %pg = tt.addptr %g, %i : !tt.ptr<f32>, i32
      %decay = tt.load %pg : !tt.ptr<f32>
      %scale = tt.load %ps : !tt.ptr<f32>
      %next = tt.addptr %ps, %c1 : !tt.ptr<f32>, i32
      %decays = tt.splat %decay : f32 -> tensor<64x64xf32, #mma>
      %scales = tt.splat %scale : f32 -> tensor<64x64xf32, #mma>
      %h = arith.mulf %acc, %decays : tensor<64x64xf32, #mma>
      %h1 = arith.mulf %h, %scales : tensor<64x64xf32, #mma>
      %d = tt.dot %x, %y, %h1 : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, !tt.ptr<f32>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
  // CHECK-LABEL: @groups
  // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %{{.*}}, %arg4
  // CHECK: %[[GROUP:.*]] = arith.select %[[RUNS]], %arg3, %{{.*}} : i32
  // CHECK: arith.floordivsi %{{.*}}, %[[GROUP]]
  // CHECK: scf.for
  // CHECK: %[[GOES_ON:.*]] = arith.cmpi ugt
  // CHECK: %[[NEXT_GROUP:.*]] = arith.select %[[GOES_ON]], %arg3, %{{.*}} : i32
  // CHECK: arith.floordivsi %{{.*}}, %[[NEXT_GROUP]]
  // CHECK: tt.load %{{.*}}, %[[GOES_ON]] : !tt.ptr<f32>
  tt.func public @groups(%x: tensor<64x16xf16, #a>, %y: tensor<16x64xf16, #b>, %s: !tt.ptr<f32>, %group: i32, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %q = arith.floordivsi %i, %group : i32
      %ps = tt.addptr %s, %q : !tt.ptr<f32>, i32
      %scale = tt.load %ps : !tt.ptr<f32>
      %scales = tt.splat %scale : f32 -> tensor<64x64xf32, #mma>
      %h = arith.mulf %acc, %scales : tensor<64x64xf32, #mma>
      %d = tt.dot %x, %y, %h : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // CHECK-LABEL: @page
  // CHECK-NOT: tt.load
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{[a-z]*}} = %{{[a-z_0-9]*}}) ->
  // CHECK: %[[P:.*]] = tt.addptr %arg2, %[[I]]
  // CHECK: %[[PAGE:.*]] = tt.load %[[P]]
  // CHECK: tt.addptr %arg1, %[[PAGE]]
  // CHECK: arith.addf
  // CHECK: tt.load %arg3
  // CHECK: tt.store %arg3
  tt.func public @page(%x: tensor<64x16xf16, #a>, %keys: !tt.ptr<f32>, %table: !tt.ptr<i32>, %count: !tt.ptr<f32>, %y: tensor<16x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %pt = tt.addptr %table, %i : !tt.ptr<i32>, i32
      %page = tt.load %pt : !tt.ptr<i32>
      %pk = tt.addptr %keys, %page : !tt.ptr<f32>, i32
      %pks = tt.splat %pk : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
      %key = tt.load %pks : tensor<64x64x!tt.ptr<f32>, #mma>
      %h = arith.addf %acc, %key : tensor<64x64xf32, #mma>
      %seen = tt.load %count : !tt.ptr<f32>
      %more = arith.addf %seen, %seen : f32
      tt.store %count, %more : !tt.ptr<f32>
      %d = tt.dot %x, %y, %h : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
