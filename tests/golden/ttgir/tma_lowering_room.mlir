// A loaded block is waited for where its buffer is read, so that several loads are in flight together; but where its
// mbarrier has no room beside the buffers that are allocated until then, before the first of them. A block on sm_90a
// has 227 KiB: beside the two blocks, the buffers of the first kernel leave 1 KiB, those of the second nothing.
// RUN: tessera opt %s -triton-nvidia-tma-lowering --target sm_90a --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bytes = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!block = tensor<128x64xf16, #blocked>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!buffer = !ttg.memdesc<128x64xf16, #shared, #smem>
!b128K = !ttg.memdesc<131072xi8, #bytes, #smem, mutable>
!b64K = !ttg.memdesc<65536xi8, #bytes, #smem, mutable>
!b2K = !ttg.memdesc<2048xi8, #bytes, #smem, mutable>
!b1K = !ttg.memdesc<1024xi8, #bytes, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @room_for_both
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK-NOT: ttng.wait_barrier
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.wait_barrier
  tt.func public @room_for_both(%a: !desc, %b: !desc, %i: i32) {
    %0 = ttg.local_alloc : () -> !b128K
    %1 = ttg.local_alloc : () -> !b64K
    %2 = ttg.local_alloc : () -> !b2K
    %x = tt.descriptor_load %a[%i, %i] : !desc -> !block
    %xb = ttg.local_alloc %x : (!block) -> !buffer
    %y = tt.descriptor_load %b[%i, %i] : !desc -> !block
    %yb = ttg.local_alloc %y : (!block) -> !buffer
    %xx = ttg.local_load %xb : !buffer -> !block
    %yy = ttg.local_load %yb : !buffer -> !block
    ttg.local_dealloc %0 : !b128K
    ttg.local_dealloc %1 : !b64K
    ttg.local_dealloc %2 : !b2K
    tt.return
  }

  // CHECK-LABEL: @room_for_none
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier
  tt.func public @room_for_none(%a: !desc, %b: !desc, %i: i32) {
    %0 = ttg.local_alloc : () -> !b128K
    %1 = ttg.local_alloc : () -> !b64K
    %2 = ttg.local_alloc : () -> !b2K
    %3 = ttg.local_alloc : () -> !b1K
    %x = tt.descriptor_load %a[%i, %i] : !desc -> !block
    %xb = ttg.local_alloc %x : (!block) -> !buffer
    %y = tt.descriptor_load %b[%i, %i] : !desc -> !block
    %yb = ttg.local_alloc %y : (!block) -> !buffer
    %xx = ttg.local_load %xb : !buffer -> !block
    %yy = ttg.local_load %yb : !buffer -> !block
    ttg.local_dealloc %0 : !b128K
    ttg.local_dealloc %1 : !b64K
    ttg.local_dealloc %2 : !b2K
    ttg.local_dealloc %3 : !b1K
    tt.return
  }
}
