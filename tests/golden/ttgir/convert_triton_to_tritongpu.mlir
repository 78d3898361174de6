// Default layouts: the innermost dimension takes threads first, then warps, one element each (layouts/blocked.h).
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" --split-input-file | FileCheck %s
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=hip:gfx942 num-warps=4 threads-per-warp=64" --split-input-file | FileCheck %s --check-prefix=WAVE64

// CHECK-DAG: #[[A:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
// CHECK-DAG: #[[B:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 16, 2], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
// CHECK-DAG: #[[C:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 1, 1], threadsPerWarp = [1, 1, 16, 2], warpsPerCTA = [1, 1, 4, 1], order = [3, 2, 1, 0]}>
// CHECK-DAG: #[[D:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}
// CHECK: tt.func public @defaults(
// CHECK-SAME: tensor<64x2x32xf16, #[[A]]>
// CHECK-SAME: tensor<32x64x2xf16, #[[B]]>
// CHECK-SAME: tensor<64x2x64x2xf32, #[[C]]>
// CHECK-SAME: !tt.ptr<tensor<128x32xf16, #[[D]]>>
// WAVE64-DAG: #[[A:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 32], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// WAVE64: "ttg.threads-per-warp" = 64 : i32
// WAVE64: tt.func public @defaults(
// WAVE64-SAME: tensor<64x2x32xf16, #[[A]]>
tt.func public @defaults(%a: tensor<64x2x32xf16>, %b: tensor<32x64x2xf16>, %c: tensor<64x2x64x2xf32>, %d: !tt.ptr<tensor<128x32xf16>>) {
  tt.return
}

// -----

// Operations that tie layouts of operands and results together.
// CHECK-DAG: #[[ONE:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[COL:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
// CHECK: tt.func public @tied
// CHECK: %[[R:.*]] = tt.make_range {{.*}} : tensor<128xi32, #[[ONE]]>
// CHECK: %[[S:.*]] = ttg.convert_layout %[[R]] : tensor<128xi32, #[[ONE]]> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #[[COL]]}>>
// CHECK: %[[E:.*]] = tt.expand_dims %[[S]] {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #[[COL]]}>> -> tensor<128x1xi32, #[[COL]]>
// CHECK: "tt.reduce"
// CHECK: -> tensor<128xi32, #ttg.slice<{dim = 1, parent =
tt.func public @tied() -> tensor<128xi32> {
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %2 = tt.broadcast %1 : tensor<128x1xi32> -> tensor<128x32xi32>
  %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %4 = arith.addi %x, %y : i32
    tt.reduce.return %4 : i32
  }) : (tensor<128x32xi32>) -> tensor<128xi32>
  tt.return %3 : tensor<128xi32>
}

// -----

// A join's operands lie where the first half of its result does: the new dimension is one thread's.
// CHECK-DAG: #[[SRC:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[DST:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// CHECK: tt.join %{{.*}}, %{{.*}} : tensor<16x32xf16, #[[SRC]]> -> tensor<16x32x2xf16, #[[DST]]>
// CHECK: tt.split %{{.*}} : tensor<16x32x2xf16, #[[DST]]> -> tensor<16x32xf16, #[[SRC]]>
tt.func public @join(%a: tensor<16x32xf16>) {
  %0 = tt.join %a, %a : tensor<16x32xf16> -> tensor<16x32x2xf16>
  %1, %2 = tt.split %0 : tensor<16x32x2xf16> -> tensor<16x32xf16>
  tt.return
}

// -----

// The elements of a pack are neighbours in one thread: four of a row, or of two rows that have two each.
// CHECK-DAG: #[[FOUR:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [{{[0-9, ]+}}], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: "tt.map_elementwise"
// CHECK: (tensor<512xf32, #[[FOUR]]>) -> tensor<512xf32, #[[FOUR]]>
// CHECK: "tt.map_elementwise"
// CHECK: (tensor<64x2xf32, #[[ROWS]]>) -> tensor<64x2xf32, #[[ROWS]]>
tt.func public @packs(%a: tensor<512xf32>, %b: tensor<64x2xf32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 4 : i32}> ({
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    tt.map_elementwise.return %w, %z, %y, %x : f32, f32, f32, f32
  }) : (tensor<512xf32>) -> tensor<512xf32>
  %1 = "tt.map_elementwise"(%b) <{pack = 4 : i32}> ({
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    tt.map_elementwise.return %w, %z, %y, %x : f32, f32, f32, f32
  }) : (tensor<64x2xf32>) -> tensor<64x2xf32>
  tt.return
}

// -----

// Any order stays free where one tensor is reduced to a scalar, perhaps after an operation on each element; where it is
// reduced or combined with another tensor, elements keep their order.
// CHECK-LABEL: @any_order
// CHECK: tt.reshape %{{.*}} allow_reorder : tensor<8x32xi32
// CHECK: tt.reshape %{{.*}} : tensor<8x32xi32
// CHECK: tt.reshape %{{.*}} : tensor<8x32xi32
// CHECK: tt.reshape %{{.*}} : tensor<8x32xi32
tt.func public @any_order(%a: tensor<8x32xi32>, %b: tensor<8x32xi32>, %c: tensor<256xi32>) -> (i32, i32, tensor<256xi32>) {
  %two = arith.constant dense<2> : tensor<256xi32>
  %0 = tt.reshape %a allow_reorder : tensor<8x32xi32> -> tensor<256xi32>
  %1 = arith.muli %0, %two : tensor<256xi32>
  %sum = "tt.reduce"(%1) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %s = arith.addi %x, %y : i32
    tt.reduce.return %s : i32
  }) : (tensor<256xi32>) -> i32
  %2 = tt.reshape %a allow_reorder : tensor<8x32xi32> -> tensor<256xi32>
  %3 = tt.reshape %b allow_reorder : tensor<8x32xi32> -> tensor<256xi32>
  %least:2 = "tt.reduce"(%2, %3) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %i: i32, %y: i32, %j: i32):
    %less = arith.cmpi slt, %x, %y : i32
    %v = arith.select %less, %x, %y : i32
    %k = arith.select %less, %i, %j : i32
    tt.reduce.return %v, %k : i32, i32
  }) : (tensor<256xi32>, tensor<256xi32>) -> (i32, i32)
  %4 = tt.reshape %b allow_reorder : tensor<8x32xi32> -> tensor<256xi32>
  %5 = arith.addi %4, %c : tensor<256xi32>
  tt.return %sum, %least#1, %5 : i32, i32, tensor<256xi32>
}
