// 32 warps have 64 registers a thread, of which the accumulator of one instruction takes half at most: ptxas refuses an
// instruction that does not fit, and can spill only between instructions.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --split-input-file | FileCheck %s

// 512 rows for 32 warps: each group has all 256 columns, by four instructions.
// CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [32, 1], instrShape = [16, 64, 16]}>
// CHECK-LABEL: @many_warps
// CHECK: ttng.warp_group_dot {{.*}} -> tensor<512x256xf32, #[[MMA]]>
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [32, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [32, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 32 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @many_warps(%u: tensor<512x64xf16, #l>, %v: tensor<64x256xf16, #l>, %c: tensor<512x256xf32, #acc>) -> tensor<512x256xf32, #acc> {
    %x = ttg.convert_layout %u : tensor<512x64xf16, #l> -> tensor<512x64xf16, #a>
    %y = ttg.convert_layout %v : tensor<64x256xf16, #l> -> tensor<64x256xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<512x64xf16, #a> * tensor<64x256xf16, #b> -> tensor<512x256xf32, #acc>
    tt.return %d : tensor<512x256xf32, #acc>
  }
}

// -----

// 16 warps have 128 registers, and an accumulator of f16 takes one for four columns.
// CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [16, 1], instrShape = [16, 256, 16]}>
// CHECK-LABEL: @narrow_accumulator
// CHECK: ttng.warp_group_dot {{.*}} -> tensor<256x256xf16, #[[MMA]]>
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [16, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [16, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @narrow_accumulator(%u: tensor<256x64xf16, #l>, %v: tensor<64x256xf16, #l>, %c: tensor<256x256xf16, #acc>) -> tensor<256x256xf16, #acc> {
    %x = ttg.convert_layout %u : tensor<256x64xf16, #l> -> tensor<256x64xf16, #a>
    %y = ttg.convert_layout %v : tensor<64x256xf16, #l> -> tensor<64x256xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<256x64xf16, #a> * tensor<64x256xf16, #b> -> tensor<256x256xf16, #acc>
    tt.return %d : tensor<256x256xf16, #acc>
  }
}
