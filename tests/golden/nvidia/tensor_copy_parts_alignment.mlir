// A part of a buffer that does not begin at a multiple of 128 bytes.
// RUN: not tessera compile %s --target sm_90a --emit ptx -o - 2>&1 | FileCheck %s
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!whole = !ttg.memdesc<64x8xf16, #shared, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #line, #smem, mutable>
!part = !ttg.memdesc<4x8xf16, #shared, #smem, mutable, 64x8>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%x: !tt.tensordesc<tensor<4x8xf16, #shared>>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %whole = ttg.local_alloc : () -> !whole
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %part = ttg.memdesc_subslice %whole[4, 0] : !whole -> !part
    // CHECK: [[@LINE+1]]:{{.*}}error: 'ttng.async_tma_copy_global_to_local' copies a part of a buffer that begins at byte 64; bulk copies need multiples of 128
    ttng.async_tma_copy_global_to_local %x[%c0, %c0] %part, %bar, %true : !tt.tensordesc<tensor<4x8xf16, #shared>>, !bar -> !part
    tt.return
  }
}
