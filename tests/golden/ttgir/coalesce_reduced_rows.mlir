// In three dimensions the last one runs, and nothing orders the others: lanes and warps take the one that is not reduced
// before the one that is, so that most of the reduction is between elements of a thread. So do other accesses of that
// shape, between which values flow.
// RUN: tessera opt %s -tritongpu-coalesce --target sm_90a --split-input-file | FileCheck %s

// The middle dimension is reduced, behind a mask.
// CHECK: #[[L:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [8, 1, 4], warpsPerCTA = [2, 2, 1], order = [2, 0, 1]}>
// CHECK-LABEL: @middle
// CHECK: tt.load {{.*}} : tensor<16x16x16x!tt.ptr<f32>, #[[L]]>
// CHECK: tt.store {{.*}} : tensor<16x16x16x!tt.ptr<f32>, #[[L]]>
#l = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 16], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @middle(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %rows: tensor<16x16x1xi32, #l>, %mr: tensor<16x16x1xi1, #l>) -> tensor<16x16xf32, #ttg.slice<{dim = 1, parent = #l}>> {
    %c16 = arith.constant dense<16> : tensor<16x16x1xi32, #l>
    %zero = arith.constant dense<0.0> : tensor<16x16x16xf32, #l>
    %r = arith.muli %rows, %c16 : tensor<16x16x1xi32, #l>
    %rb = tt.broadcast %r : tensor<16x16x1xi32, #l> -> tensor<16x16x16xi32, #l>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 0, parent = #l}>}>>
    %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 0, parent = #l}>}>> -> tensor<1x16xi32, #ttg.slice<{dim = 0, parent = #l}>>
    %i2 = tt.expand_dims %i1 {axis = 0 : i32} : tensor<1x16xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x1x16xi32, #l>
    %ib = tt.broadcast %i2 : tensor<1x1x16xi32, #l> -> tensor<16x16x16xi32, #l>
    %at = arith.addi %rb, %ib : tensor<16x16x16xi32, #l>
    %m = tt.broadcast %mr : tensor<16x16x1xi1, #l> -> tensor<16x16x16xi1, #l>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x16x!tt.ptr<f32>, #l>
    %p = tt.addptr %xs, %at : tensor<16x16x16x!tt.ptr<f32>, #l>, tensor<16x16x16xi32, #l>
    %v = tt.load %p, %m, %zero : tensor<16x16x16x!tt.ptr<f32>, #l>
    %w = arith.select %m, %v, %zero : tensor<16x16x16xi1, #l>, tensor<16x16x16xf32, #l>
    %s = "tt.reduce"(%w) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<16x16x16xf32, #l>) -> tensor<16x16xf32, #ttg.slice<{dim = 1, parent = #l}>>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x16x16x!tt.ptr<f32>, #l>
    %q = tt.addptr %os, %at : tensor<16x16x16x!tt.ptr<f32>, #l>, tensor<16x16x16xi32, #l>
    tt.store %q, %v, %m : tensor<16x16x16x!tt.ptr<f32>, #l>
    tt.return %s : tensor<16x16xf32, #ttg.slice<{dim = 1, parent = #l}>>
  }
}

// -----

// Nothing changes if the runs are shorter than two sectors: neighbouring rows may share one.
// CHECK: #[[L:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 16, 2], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// CHECK-LABEL: @short_runs
// CHECK: tt.load {{.*}} : tensor<16x16x8x!tt.ptr<f32>, #[[L]]>
#l = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 4, 8], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @short_runs(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %rows: tensor<16x16x1xi32, #l>) -> tensor<16x8xf32, #ttg.slice<{dim = 1, parent = #l}>> {
    %c8 = arith.constant dense<8> : tensor<16x16x1xi32, #l>
    %r = arith.muli %rows, %c8 : tensor<16x16x1xi32, #l>
    %rb = tt.broadcast %r : tensor<16x16x1xi32, #l> -> tensor<16x16x8xi32, #l>
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 0, parent = #l}>}>>
    %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 0, parent = #l}>}>> -> tensor<1x8xi32, #ttg.slice<{dim = 0, parent = #l}>>
    %i2 = tt.expand_dims %i1 {axis = 0 : i32} : tensor<1x8xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x1x8xi32, #l>
    %ib = tt.broadcast %i2 : tensor<1x1x8xi32, #l> -> tensor<16x16x8xi32, #l>
    %at = arith.addi %rb, %ib : tensor<16x16x8xi32, #l>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x8x!tt.ptr<f32>, #l>
    %p = tt.addptr %xs, %at : tensor<16x16x8x!tt.ptr<f32>, #l>, tensor<16x16x8xi32, #l>
    %v = tt.load %p : tensor<16x16x8x!tt.ptr<f32>, #l>
    %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<16x16x8xf32, #l>) -> tensor<16x8xf32, #ttg.slice<{dim = 1, parent = #l}>>
    tt.return %s : tensor<16x8xf32, #ttg.slice<{dim = 1, parent = #l}>>
  }
}
