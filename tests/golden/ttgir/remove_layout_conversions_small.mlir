// What few elements are computed from is computed in the layout that is wanted.
// RUN: tessera opt %s -split-input-file -tritongpu-remove-layout-conversions | FileCheck %s --implicit-check-not=ttg.convert_layout

// Through a reshape to a layout in which every thread has both elements, or its own of the two (a sort's steps).
// CHECK-LABEL: @reshape
// CHECK: tt.make_range {{.*}} : tensor<2xi32, #linear>
// CHECK: tt.reshape
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [32, 2, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#c = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [32, 2, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @reshape(%p: tensor<128x2x2x!tt.ptr<i32>, #c>) {
    %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32, #a>
    %x = tt.reshape %r : tensor<2xi32, #a> -> tensor<1x2x1xi32, #b>
    %y = ttg.convert_layout %x : tensor<1x2x1xi32, #b> -> tensor<1x2x1xi32, #c>
    %z = tt.broadcast %y : tensor<1x2x1xi32, #c> -> tensor<128x2x2xi32, #c>
    tt.store %p, %z : tensor<128x2x2x!tt.ptr<i32>, #c>
    tt.return
  }
}

// -----

// A row that all rows of a tensor are multiplied by: eight elements of a thread are two accesses, less than the way
// through shared memory or shuffles.
// CHECK-LABEL: @row
// CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>, #ttg.slice<
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @row(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %p: tensor<32x64x!tt.ptr<f32>, #b>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
    %s = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
    %q = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
    %x = tt.load %q : tensor<64x!tt.ptr<f32>, #a>
    %y = ttg.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #b}>>
    %e = tt.expand_dims %y {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x64xf32, #b>
    %z = tt.broadcast %e : tensor<1x64xf32, #b> -> tensor<32x64xf32, #b>
    tt.store %p, %z : tensor<32x64x!tt.ptr<f32>, #b>
    tt.return
  }
}

// -----

// Elements that are loaded where a reduction says, in a loop that carries them: all of it in the reduction's layout,
// the first elements too.
// CHECK-LABEL: @carried
// CHECK: tt.load {{.*}} : tensor<8x!tt.ptr<i64>, #ttg.slice<
// CHECK: scf.for
// CHECK: tt.load {{.*}} : tensor<8x!tt.ptr<i64>, #ttg.slice<
// CHECK: tt.store {{.*}} : tensor<8x!tt.ptr<i64>, #ttg.slice<
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @carried(%table: !tt.ptr<i64>, %out: !tt.ptr<i64>, %x: tensor<8x128x!tt.ptr<i32>, #b>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #a>
    %ts = tt.splat %table : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>, #a>
    %tp = tt.addptr %ts, %r : tensor<8x!tt.ptr<i64>, #a>, tensor<8xi32, #a>
    %first = tt.load %tp : tensor<8x!tt.ptr<i64>, #a>
    %sum = scf.for %k = %zero to %n step %one iter_args(%have = %first) -> (tensor<8xi64, #a>) : i32 {
      %v = tt.load %x : tensor<8x128x!tt.ptr<i32>, #b>
      %m = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%p: i32, %q: i32):
        %t = arith.maxsi %p, %q : i32
        tt.reduce.return %t : i32
      }) : (tensor<8x128xi32, #b>) -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>>
      %c = ttg.convert_layout %m : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<8xi32, #a>
      %at = tt.addptr %tp, %c : tensor<8x!tt.ptr<i64>, #a>, tensor<8xi32, #a>
      %y = tt.load %at : tensor<8x!tt.ptr<i64>, #a>
      %z = arith.addi %have, %y : tensor<8xi64, #a>
      scf.yield %z : tensor<8xi64, #a>
    }
    %os = tt.splat %out : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>, #a>
    %op = tt.addptr %os, %r : tensor<8x!tt.ptr<i64>, #a>, tensor<8xi32, #a>
    tt.store %op, %sum : tensor<8x!tt.ptr<i64>, #a>
    tt.return
  }
}
