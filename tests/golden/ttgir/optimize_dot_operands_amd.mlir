// Operands of 16 bits whose rows run across K: gfx950 keeps them row-major in the buffer and transposes on read
// (ds_read_b64_tr_b16); other targets store a lane's elements along K side by side.
// RUN: tessera opt %s -split-input-file -tritongpu-optimize-dot-operands --target gfx950 --verify-each | FileCheck %s
// RUN: tessera opt %s -split-input-file -tritongpu-optimize-dot-operands --target gfx942 --verify-each | FileCheck %s --check-prefix=ALONG
// CHECK: #[[S:.*]] = #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2],
// ALONG: #[[S:.*]] = #ttg.shared_linear<{offset = {{\[\[}}1, 0], [2, 0], [4, 0],
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 32], isTransposed = true}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK: ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x64xf16, #[[S]], #smem>
  // CHECK-NEXT: ttg.local_load %{{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
  // ALONG: ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x64xf16, #[[S]], #smem>
  tt.func @across_k(%b: tensor<32x64xf16, #blocked>) -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> {
    %0 = ttg.convert_layout %b : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
    tt.return %0 : tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
  }
}

// -----

// Consecutive rows that a thread loaded in a loop: it permutes them and stores vectors along K, whose elements are
// eight registers apart.
// ALONG: #[[R:.*]] = #ttg.shared_linear<{offset = {{\[\[}}1, 0], [2, 0], [4, 0], [0,
#rows = #ttg.blocked<{sizePerThread = [8, 8], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // ALONG-LABEL: @consecutive_rows
  // ALONG: ttg.local_alloc %{{.*}} -> !ttg.memdesc<128x32xbf16, #[[R]], #smem>
  tt.func @consecutive_rows(%p: tensor<128x32x!tt.ptr<bf16>, #rows>, %n: i32, %a: tensor<32x128xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<32x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x32x!tt.ptr<bf16>, #rows>
      %b = ttg.convert_layout %x : tensor<128x32xbf16, #rows> -> tensor<128x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
      %d = tt.dot %a, %b, %acc : tensor<32x128xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<128x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}
