// wgmma reads bytes along K alone. B that lies across K is stored along it, where the dot has too few columns to be
// transposed, and where that takes less than reading it byte by byte for mma.sync.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --split-input-file | FileCheck %s
// CHECK-DAG: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 32]}>
// CHECK-DAG: #[[B:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
// CHECK-LABEL: @worth
// CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<64x32xi8, #[[B]], #smem>
// CHECK: ttng.warp_group_dot {{.*}} -> tensor<128x32xi32, #[[MMA]]>
#l = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @worth(%u: tensor<128x64xi8, #l>, %v: tensor<64x32xi8, #l>, %c: tensor<128x32xi32, #acc>) -> tensor<128x32xi32, #acc> {
    %x = ttg.convert_layout %u : tensor<128x64xi8, #l> -> tensor<128x64xi8, #a>
    %y = ttg.convert_layout %v : tensor<64x32xi8, #l> -> tensor<64x32xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<128x64xi8, #a> * tensor<64x32xi8, #b> -> tensor<128x32xi32, #acc>
    tt.return %d : tensor<128x32xi32, #acc>
  }
}

// -----

// Each of eight warps reads 8 bytes of B in a lane.
// CHECK-LABEL: @small
// CHECK-NOT: ttng.warp_group_dot
// CHECK: tt.dot
#l = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [8, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @small(%u: tensor<64x32xi8, #l>, %v: tensor<32x16xi8, #l>, %c: tensor<64x16xi32, #acc>) -> tensor<64x16xi32, #acc> {
    %x = ttg.convert_layout %u : tensor<64x32xi8, #l> -> tensor<64x32xi8, #a>
    %y = ttg.convert_layout %v : tensor<32x16xi8, #l> -> tensor<32x16xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xi8, #a> * tensor<32x16xi8, #b> -> tensor<64x16xi32, #acc>
    tt.return %d : tensor<64x16xi32, #acc>
  }
}

// -----

// f32 would be copied to such a buffer one element at a time.
// CHECK-LABEL: @words
// CHECK-NOT: ttng.warp_group_dot
// CHECK: tt.dot
#l = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @words(%u: tensor<128x64xf32, #l>, %v: tensor<64x32xf32, #l>, %c: tensor<128x32xf32, #acc>) -> tensor<128x32xf32, #acc> {
    %x = ttg.convert_layout %u : tensor<128x64xf32, #l> -> tensor<128x64xf32, #a>
    %y = ttg.convert_layout %v : tensor<64x32xf32, #l> -> tensor<64x32xf32, #b>
    %d = tt.dot %x, %y, %c, inputPrecision = tf32 : tensor<128x64xf32, #a> * tensor<64x32xf32, #b> -> tensor<128x32xf32, #acc>
    tt.return %d : tensor<128x32xf32, #acc>
  }
}
