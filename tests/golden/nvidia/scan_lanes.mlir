// Scans within a warp: each step reads the last lane of the lower half of a group. In segments of the size of the group
// that lane is a constant of the instruction, and no instruction computes it. Lanes of a column are not side by side:
// they compute which lane they read.
// RUN: tessera compile %s --kernel row --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=ROW
// RUN: tessera compile %s --kernel column --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=COLUMN
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#column = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Groups of 2, 4, 8, 16 and 32 lanes.
  // ROW-LABEL: .entry row(
  // ROW: shfl.sync.idx.b32 {{.*}}, 0, 7711, -1
  // ROW: shfl.sync.idx.b32 {{.*}}, 1, 7199, -1
  // ROW: shfl.sync.idx.b32 {{.*}}, 3, 6175, -1
  // ROW: shfl.sync.idx.b32 {{.*}}, 7, 4127, -1
  // ROW: shfl.sync.idx.b32 {{.*}}, 15, 31, -1
  // ROW-NOT: shfl
  // ROW: ret;
  tt.func public @row(%base: !tt.ptr<f32>) {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #row>
    %s = tt.splat %base : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #row>
    %p = tt.addptr %s, %r : tensor<32x!tt.ptr<f32>, #row>, tensor<32xi32, #row>
    %x = tt.load %p : tensor<32x!tt.ptr<f32>, #row>
    %y = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<32xf32, #row>) -> tensor<32xf32, #row>
    tt.store %p, %y : tensor<32x!tt.ptr<f32>, #row>
    tt.return
  }
  // COLUMN-LABEL: .entry column(
  // COLUMN: and.b32 %[[OWN:r[0-9]+]], %{{r[0-9]+}}, 29;
  // COLUMN: shfl.sync.idx.b32 {{.*}}, %[[OWN]], 31, -1
  // COLUMN: ret;
  tt.func public @column(%base: !tt.ptr<f32>) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #column}>>
    %c = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32, #ttg.slice<{dim = 0, parent = #column}>>
    %w = arith.constant dense<2> : tensor<16x1xi32, #column>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #column}>> -> tensor<16x1xi32, #column>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<2xi32, #ttg.slice<{dim = 0, parent = #column}>> -> tensor<1x2xi32, #column>
    %rw = arith.muli %re, %w : tensor<16x1xi32, #column>
    %rb = tt.broadcast %rw : tensor<16x1xi32, #column> -> tensor<16x2xi32, #column>
    %cb = tt.broadcast %ce : tensor<1x2xi32, #column> -> tensor<16x2xi32, #column>
    %i = arith.addi %rb, %cb : tensor<16x2xi32, #column>
    %s = tt.splat %base : !tt.ptr<f32> -> tensor<16x2x!tt.ptr<f32>, #column>
    %p = tt.addptr %s, %i : tensor<16x2x!tt.ptr<f32>, #column>, tensor<16x2xi32, #column>
    %x = tt.load %p : tensor<16x2x!tt.ptr<f32>, #column>
    %y = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      tt.scan.return %d : f32
    }) : (tensor<16x2xf32, #column>) -> tensor<16x2xf32, #column>
    tt.store %p, %y : tensor<16x2x!tt.ptr<f32>, #column>
    tt.return
  }
}
