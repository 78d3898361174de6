// tritongpu-accelerate-matmul on AMD: MFMA with the larger tile where every warp gets one, WMMA, and f32 under IEEE
// rules.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target gfx942 --split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target gfx950 --split-input-file | FileCheck %s --check-prefixes=CHECK,GFX950

// GFX942: #[[MMA:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// GFX950: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
// CHECK-LABEL: @f16
// CHECK: tt.dot {{.*}}kWidth = 8{{.*}} -> tensor<64x64xf32, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f16(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// tf32 has an instruction on gfx942 alone; where it has none, f32's is taken. The tile is 16 by 16: eight warps share it.
// CHECK: #[[MMA:.*]] = #ttg.amd_mfma<{version = {{[34]}}, warpsPerCTA = [{{[24]}}, {{[24]}}], instrShape = [16, 16, {{8|4}}], isTransposed = true}>
// CHECK-LABEL: @f32
// CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f32(%a: tensor<64x32xf32, #a>, %b: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Fewer than 16 rows: 4 by 64, whose wide side is not computed twice; its registers run down the columns. With half of
// its columns the tile of 16 by 16 does, some of whose rows are copies; and on gfx950 with all, where it takes no longer.
// GFX942: #[[MMA:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [4, 64, 64], isTransposed = false}>
// CHECK: #[[NARROW:.*]] = #ttg.amd_mfma<{version = {{[34]}}, warpsPerCTA = [1, 1], instrShape = [16, 16, {{16|32}}], isTransposed = true}>
// CHECK-LABEL: @few_rows
// GFX942: tt.dot {{.*}}kWidth = 4{{.*}} -> tensor<4x64xf32, #[[MMA]]>
// GFX950: tt.dot {{.*}}kWidth = 8{{.*}} -> tensor<4x64xf32, #[[NARROW]]>
// CHECK-LABEL: @few_rows_and_columns
// CHECK: tt.dot {{.*}} -> tensor<4x32xf32, #[[NARROW]]>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @few_rows(%a: tensor<4x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<4x64xf32, #blocked>) -> tensor<4x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<4x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<4x64xf32, #blocked>
    tt.return %d : tensor<4x64xf32, #blocked>
  }
  tt.func @few_rows_and_columns(%a: tensor<4x64xf16, #a>, %b: tensor<64x32xf16, #b>, %c: tensor<4x32xf32, #blocked>) -> tensor<4x32xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<4x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<4x32xf32, #blocked>
    tt.return %d : tensor<4x32xf32, #blocked>
  }
}

// -----

// Fewer than 16 columns: the same with the operands exchanged.
// GFX942: #[[MMA:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [64, 4, 64], isTransposed = true}>
// GFX950: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [16, 16, 32], isTransposed = true}>
// CHECK-LABEL: @few_columns
// CHECK: tt.dot {{.*}} -> tensor<256x4xf32, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @few_columns(%a: tensor<256x32xbf16, #a>, %b: tensor<32x4xbf16, #b>, %c: tensor<256x4xf32, #blocked>) -> tensor<256x4xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<256x32xbf16, #a> * tensor<32x4xbf16, #b> -> tensor<256x4xf32, #blocked>
    tt.return %d : tensor<256x4xf32, #blocked>
  }
}

// -----

// A chain with eight rows for each warp along M: instructions with 4 rows would fit, but take at least twice as long as
// 16-row instructions on half of the warps.
// CHECK-NOT: instrShape = [4, 64
// CHECK: #[[MMA:.*]] = #ttg.amd_mfma<{version = {{[34]}}, warpsPerCTA = [4, 2], instrShape = [16, 16, {{16|32}}], isTransposed = true}>
// CHECK-NOT: instrShape = [4, 64
// CHECK-LABEL: @eight_rows_each
// CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[MMA]]>
// CHECK: tt.dot {{.*}} -> tensor<64x128xf32, #{{.*}}>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @eight_rows_each(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>, %v: tensor<64x128xf16, #b>, %o: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %n = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %p = ttg.convert_layout %n : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %r = tt.dot %p, %v, %o : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #blocked>
    tt.return %r : tensor<64x128xf32, #blocked>
  }
}
