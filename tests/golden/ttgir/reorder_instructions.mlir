// Loads from shared memory and conversions move down to their first users, but not past what may change the buffer.
// RUN: tessera opt %s -tritongpu-reorder-instructions --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @sinks
  // CHECK: arith.mulf
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: arith.addf
  tt.func public @sinks(%x: tensor<512xf32, #b>, %m: !ttg.memdesc<512xf32, #s, #smem, mutable>) {
    %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #s, #smem, mutable> -> tensor<512xf32, #a>
    %1 = ttg.convert_layout %0 : tensor<512xf32, #a> -> tensor<512xf32, #b>
    %2 = arith.mulf %x, %x : tensor<512xf32, #b>
    %3 = arith.addf %1, %2 : tensor<512xf32, #b>
    tt.return
  }

  // CHECK-LABEL: @stays
  // CHECK: ttg.local_load
  // CHECK-NEXT: ttg.local_store
  tt.func public @stays(%x: tensor<512xf32, #a>, %m: !ttg.memdesc<512xf32, #s, #smem, mutable>) {
    %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #s, #smem, mutable> -> tensor<512xf32, #a>
    ttg.local_store %x, %m : tensor<512xf32, #a> -> !ttg.memdesc<512xf32, #s, #smem, mutable>
    %1 = arith.addf %0, %0 : tensor<512xf32, #a>
    tt.return
  }
}
