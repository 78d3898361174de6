// issue-loads-early: 16-bit elements that are loaded one by one take a register each, so they are stored to their
// buffer before the next such load.
// RUN: tessera opt %s -issue-loads-early | FileCheck %s
// CHECK: @singly
// CHECK: %[[A:.*]] = tt.load
// CHECK-NEXT: ttg.local_alloc %[[A]]
// CHECK: %[[B:.*]] = tt.load
// CHECK-NEXT: ttg.local_alloc %[[B]]
#single = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem1 = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @singly(%p: tensor<64x128x!tt.ptr<f16>, #single>, %q: tensor<64x128x!tt.ptr<f16>, #single>) {
    %a = tt.load %p : tensor<64x128x!tt.ptr<f16>, #single>
    %b = tt.load %q : tensor<64x128x!tt.ptr<f16>, #single>
    %x = ttg.local_alloc %a : (tensor<64x128xf16, #single>) -> !ttg.memdesc<64x128xf16, #rows, #smem1>
    %y = ttg.local_alloc %b : (tensor<64x128xf16, #single>) -> !ttg.memdesc<64x128xf16, #rows, #smem1>
    %u = ttg.local_load %x : !ttg.memdesc<64x128xf16, #rows, #smem1> -> tensor<64x128xf16, #single>
    %v = ttg.local_load %y : !ttg.memdesc<64x128xf16, #rows, #smem1> -> tensor<64x128xf16, #single>
    tt.store %p, %v : tensor<64x128x!tt.ptr<f16>, #single>
    tt.store %q, %u : tensor<64x128x!tt.ptr<f16>, #single>
    tt.return
  }
}
