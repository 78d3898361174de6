// tritongpu-optimize-dot-operands: words across K that come by a descriptor are read as the bulk copy leaves them, with
// conflicts. Where four warps read each of them, they go through a second buffer, without conflicts.
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target sm_90a --verify-each | FileCheck %s

// CHECK-DAG: #[[COPIED:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
// CHECK-DAG: #[[PLAN:.*]] = #ttg.shared_linear<

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#two = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#four = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#b2 = #ttg.dot_op<{opIdx = 1, parent = #two, kWidth = 1}>
#b4 = #ttg.dot_op<{opIdx = 1, parent = #four, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @two_warps
  // CHECK: %[[M:.*]] = ttg.local_alloc {{.*}} -> !ttg.memdesc<64x128xf32, #[[COPIED]],
  // CHECK-NEXT: ttg.local_load %[[M]]
  tt.func @two_warps(%d: !tt.tensordesc<tensor<64x128xf32, #nvmma>>, %i: i32) -> tensor<64x128xf32, #b2> {
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x128xf32, #nvmma>> -> tensor<64x128xf32, #blocked>
    %r = ttg.convert_layout %v : tensor<64x128xf32, #blocked> -> tensor<64x128xf32, #b2>
    tt.return %r : tensor<64x128xf32, #b2>
  }
  // CHECK-LABEL: @four_warps
  // CHECK: %[[M:.*]] = ttg.local_alloc {{.*}} -> !ttg.memdesc<64x128xf32, #[[PLAN]],
  // CHECK-NEXT: ttg.local_load %[[M]]
  tt.func @four_warps(%d: !tt.tensordesc<tensor<64x128xf32, #nvmma>>, %i: i32) -> tensor<64x128xf32, #b4> {
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x128xf32, #nvmma>> -> tensor<64x128xf32, #blocked>
    %r = ttg.convert_layout %v : tensor<64x128xf32, #blocked> -> tensor<64x128xf32, #b4>
    tt.return %r : tensor<64x128xf32, #b4>
  }
}
