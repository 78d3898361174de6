// decompose-given-scaled-dot: dots of microscaled operands in the layouts of Triton for sm_120 become plain dots; those of
// another result's layout stay.
// RUN: tessera opt %s -decompose-given-scaled-dot --target sm_120a | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#s = #ttg.linear<{register = [[0, 1], [32, 0]], lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [16, 0]], block = []}>
#t = #ttg.linear<{register = [[0, 1], [16, 0], [32, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [0, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Both operands are computed in bf16; the scales of the right one are transposed.
  // CHECK-LABEL: @both
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<64x64xf8E4M3FN, #ttg.dot_op<{{.*}}>> -> tensor<64x64xf32, #ttg.dot_op<{{.*}}>>
  // CHECK: tt.broadcast %{{.*}} : tensor<64x2x1xi8, #{{.*}}> -> tensor<64x2x32xi8, #{{.*}}>
  // CHECK: %[[A:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  // CHECK: tt.trans
  // CHECK: %[[B:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  // CHECK: tt.dot %[[A]], %[[B]],
  tt.func public @both(%x: tensor<64x64xf8E4M3FN, #a>, %y: tensor<64x64xf8E4M3FN, #b>, %s: tensor<64x2xi8, #s>, %t: tensor<64x2xi8, #t>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = tt.dot_scaled %x scale %s, %y scale %t, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<64x64xf8E4M3FN, #a>, tensor<64x2xi8, #s> * tensor<64x64xf8E4M3FN, #b>, tensor<64x2xi8, #t> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // CHECK-LABEL: @packed
  // CHECK: ttg.fp4_to_fp %{{.*}} {axis = 1 : i32} : {{.*}} -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
  // CHECK: tt.dot %{{.*}} : tensor<64x64xf16, {{.*}}> * tensor<64x64xf16, {{.*}}> -> tensor<64x64xf32, #mma>
  tt.func public @packed(%x: tensor<64x32xi8, #a>, %y: tensor<64x64xf16, #b>, %s: tensor<64x2xi8, #s>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = tt.dot_scaled %x scale %s, %y, %c lhs = e2m1 rhs = fp16 {fastMath = false} : tensor<64x32xi8, #a>, tensor<64x2xi8, #s> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // CHECK-LABEL: @other
  // CHECK: tt.dot_scaled
  tt.func public @other(%x: tensor<64x64xf8E4M3FN, #blocked>, %y: tensor<64x64xf8E4M3FN, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot_scaled %x, %y, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<64x64xf8E4M3FN, #blocked> * tensor<64x64xf8E4M3FN, #blocked> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}
