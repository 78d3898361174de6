// Operands of bytes whose rows run across K: gfx950 keeps them row-major in the buffer and transposes on read
// (ds_read_b64_tr_b8); gfx942 stores a lane's elements along K side by side.
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target gfx950 --verify-each | FileCheck %s
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target gfx942 --verify-each | FileCheck %s --check-prefix=ALONG
// CHECK: #[[S:.*]] = #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2], [0, 4],
// ALONG: #[[S:.*]] = #ttg.shared_linear<{offset = {{\[\[}}1, 0], [2, 0],
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 64], isTransposed = true}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK: ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xi8, #[[S]], #smem>
  // CHECK-NEXT: ttg.local_load %{{.*}} -> tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
  // ALONG: ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xi8, #[[S]], #smem>
  tt.func @across_k(%b: tensor<64x64xi8, #blocked>) -> tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> {
    %r = ttg.convert_layout %b : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    tt.return %r : tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
  }
}
