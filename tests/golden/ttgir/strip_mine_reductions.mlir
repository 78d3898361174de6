// strip-mine: reductions along the cut dimension. The loop over strips carries their results, each strip adds to them, and
// what uses the results moves behind the loop.
// RUN: tessera opt %s -strip-mine -canonicalize -cse --remarks=StripMined --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t

// REMARK: a block of 64 elements along one dimension is processed in {{.*}}StripMined]
// REMARK-COUNT-2: a block of {{1024|64}} elements along one dimension is processed in {{.*}}StripMined]
// REMARK-NOT: StripMined

#m = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #m}>
#cols = #ttg.slice<{dim = 0, parent = #m}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// Rows are stored, and summed up by column; the sum of all rows is added to a row of the caller's. The weights are
// broadcast outside of the segment: strips broadcast them again.
// CHECK-LABEL: @gradients
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<1024xf32
// CHECK: %[[LOWEST:.*]] = arith.constant dense<0x7FC00000> : tensor<1024xf32
// CHECK: gpu.barrier
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[S:.*]] = %[[ZERO]], %[[T:.*]] = %[[LOWEST]])
// CHECK: %[[V:.*]] = tt.load {{.*}} : tensor<[[K:.*]]x1024x!tt.ptr<f32>, #
// CHECK: %[[P:.*]] = "tt.reduce"(%[[V]]) <{axis = 0
// CHECK: %[[S2:.*]] = arith.addf %[[S]], %[[P]] : tensor<1024xf32
// CHECK: %[[W:.*]] = arith.mulf %[[V]], {{.*}} : tensor<[[K]]x1024xf32
// CHECK: %[[Q:.*]] = "tt.reduce"(%[[W]]) <{axis = 0
// CHECK: %[[T2:.*]] = arith.maxnumf %[[T]], %[[Q]] : tensor<1024xf32
// CHECK: tt.store {{.*}}, %[[W]]
// CHECK: scf.yield %[[S2]], %[[T2]]
// CHECK: %[[A:.*]] = arith.addf %{{.*}}, %[[R]]#0
// CHECK: arith.addf %[[A]], %[[R]]#1
tt.func public @gradients(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %weights: tensor<1x1024xf32, #m>, %before: tensor<1024xf32, #cols>) -> tensor<1024xf32, #cols> {
  %wb = tt.broadcast %weights : tensor<1x1024xf32, #m> -> tensor<64x1024xf32, #m>
  gpu.barrier
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #m>
  %width = arith.constant dense<1024> : tensor<64x1xi32, #m>
  %ro = arith.muli %r2, %width : tensor<64x1xi32, #m>
  %rb = tt.broadcast %ro : tensor<64x1xi32, #m> -> tensor<64x1024xi32, #m>
  %k = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #cols>
  %k2 = tt.expand_dims %k {axis = 0 : i32} : tensor<1024xi32, #cols> -> tensor<1x1024xi32, #m>
  %kb = tt.broadcast %k2 : tensor<1x1024xi32, #m> -> tensor<64x1024xi32, #m>
  %at = arith.addi %rb, %kb : tensor<64x1024xi32, #m>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x1024x!tt.ptr<f32>, #m>
  %xp = tt.addptr %xs, %at : tensor<64x1024x!tt.ptr<f32>, #m>, tensor<64x1024xi32, #m>
  %v = tt.load %xp : tensor<64x1024x!tt.ptr<f32>, #m>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64x1024xf32, #m>) -> tensor<1024xf32, #cols>
  %sum = arith.addf %before, %s : tensor<1024xf32, #cols>
  %w = arith.mulf %v, %wb : tensor<64x1024xf32, #m>
  %t = "tt.reduce"(%w) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64x1024xf32, #m>) -> tensor<1024xf32, #cols>
  %both = arith.addf %sum, %t : tensor<1024xf32, #cols>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x1024x!tt.ptr<f32>, #m>
  %op = tt.addptr %os, %at : tensor<64x1024x!tt.ptr<f32>, #m>, tensor<64x1024xi32, #m>
  tt.store %op, %w : tensor<64x1024x!tt.ptr<f32>, #m>
  tt.return %both : tensor<1024xf32, #cols>
}
}

// -----

#m = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #m}>
#cols = #ttg.slice<{dim = 0, parent = #m}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The rows that are stored need the whole sum: no strip can be stored before the last one is loaded, so that all are
// loaded again (strip_mine_phases.mlir).
// CHECK-LABEL: @normalized
// CHECK: scf.for
// CHECK: tt.load
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: tt.load
// CHECK: tt.store
tt.func public @normalized(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #m>
  %width = arith.constant dense<1024> : tensor<64x1xi32, #m>
  %ro = arith.muli %r2, %width : tensor<64x1xi32, #m>
  %rb = tt.broadcast %ro : tensor<64x1xi32, #m> -> tensor<64x1024xi32, #m>
  %k = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #cols>
  %k2 = tt.expand_dims %k {axis = 0 : i32} : tensor<1024xi32, #cols> -> tensor<1x1024xi32, #m>
  %kb = tt.broadcast %k2 : tensor<1x1024xi32, #m> -> tensor<64x1024xi32, #m>
  %at = arith.addi %rb, %kb : tensor<64x1024xi32, #m>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x1024x!tt.ptr<f32>, #m>
  %xp = tt.addptr %xs, %at : tensor<64x1024x!tt.ptr<f32>, #m>, tensor<64x1024xi32, #m>
  %v = tt.load %xp : tensor<64x1024x!tt.ptr<f32>, #m>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64x1024xf32, #m>) -> tensor<1024xf32, #cols>
  %total = "tt.reduce"(%s) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32, #cols>) -> f32
  %ts = tt.splat %total : f32 -> tensor<64x1024xf32, #m>
  %w = arith.divf %v, %ts : tensor<64x1024xf32, #m>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x1024x!tt.ptr<f32>, #m>
  %op = tt.addptr %os, %at : tensor<64x1024x!tt.ptr<f32>, #m>, tensor<64x1024xi32, #m>
  tt.store %op, %w : tensor<64x1024x!tt.ptr<f32>, #m>
  tt.return
}
}
