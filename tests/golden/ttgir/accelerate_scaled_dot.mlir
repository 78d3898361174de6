// tritongpu-accelerate-scaled-dot: MFMA with scales, operands of 16 bytes a lane, scales in the layout in which lanes give
// them. All dots that the decomposition leaves have an instruction.
// RUN: tessera opt %s --split-input-file -tritongpu-accelerate-scaled-dot --target gfx950 --verify-each | FileCheck %s

// A lane has the scales of its row, one for each 32 along K of its own: lanes 32 to 63 those of the second half. Operand 1's
// are rows, too: its columns'.
// CHECK-DAG: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 64], isTransposed = true}>
// CHECK-DAG: #[[SA:.*]] = #ttg.linear<{register = {{\[}}[0, 2], [64, 0]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = {{\[}}[0, 0], [32, 0]], block = []}>
// CHECK-DAG: #[[SB:.*]] = #ttg.linear<{register = {{\[}}[0, 2], [64, 0]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = {{\[}}[32, 0], [0, 0]], block = []}>
// CHECK-LABEL: @mxfp8
// CHECK: ttg.convert_layout %arg1 : tensor<128x4xi8, #{{.*}}> -> tensor<128x4xi8, #[[SA]]>
// CHECK: ttg.convert_layout %arg3 : tensor<128x4xi8, #{{.*}}> -> tensor<128x4xi8, #[[SB]]>
// CHECK: tt.dot_scaled {{.*}} : tensor<128x128xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 16}>>, tensor<128x4xi8, #[[SA]]> * tensor<128x128xf8E5M2, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 16}>>, tensor<128x4xi8, #[[SB]]> -> tensor<128x128xf32, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#scale = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @mxfp8(%a: tensor<128x128xf8E4M3FN, #blocked>, %s: tensor<128x4xi8, #scale>, %b: tensor<128x128xf8E5M2, #blocked>, %t: tensor<128x4xi8, #scale>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<128x128xf8E4M3FN, #blocked>, tensor<128x4xi8, #scale> * tensor<128x128xf8E5M2, #blocked>, tensor<128x4xi8, #scale> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}

// -----

// Both have 4 bits: a lane holds two instructions' elements, and their scales, in sequence. 16 rows, no scales of A, f16.
// CHECK-DAG: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 128], isTransposed = true}>
// CHECK-DAG: #[[S:.*]] = #ttg.linear<{register = {{\[}}[0, 1]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [0, 2], [0, 4]], warp = [], block = []}>
// CHECK-LABEL: @mxfp4
// CHECK: arith.extf %{{.*}} : tensor<16x16xf16, #[[MMA]]> to tensor<16x16xf32, #[[MMA]]>
// CHECK: tt.dot_scaled {{.*}} : tensor<16x128xi8, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 32}>> * tensor<128x16xi8, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 32}>>, tensor<16x8xi8, #[[S]]> -> tensor<16x16xf32, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @mxfp4(%a: tensor<16x128xi8, #blocked>, %b: tensor<128x16xi8, #blocked>, %t: tensor<16x8xi8, #blocked>, %c: tensor<16x16xf16, #blocked>) -> tensor<16x16xf16, #blocked> {
    %d = tt.dot_scaled %a, %b scale %t, %c lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x128xi8, #blocked> * tensor<128x16xi8, #blocked>, tensor<16x8xi8, #blocked> -> tensor<16x16xf16, #blocked>
    tt.return %d : tensor<16x16xf16, #blocked>
  }
}
