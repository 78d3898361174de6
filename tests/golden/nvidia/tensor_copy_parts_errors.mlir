// Where a part of a buffer begins must be known for a copy of a tensor to it.
// RUN: not tessera compile %s --target sm_90a --emit ptx -o - 2>&1 | FileCheck %s
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!whole = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #line, #smem, mutable>
!part = !ttg.memdesc<32x64xf16, #shared, #smem, mutable, 64x64>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%x: !tt.tensordesc<tensor<32x64xf16, #shared>>, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %whole = ttg.local_alloc : () -> !whole
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %low = ttg.memdesc_subslice %whole[0, 0] : !whole -> !part
    %high = ttg.memdesc_subslice %whole[32, 0] : !whole -> !part
    %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%to = %low, %next = %high) -> (!part, !part) : i32 {
      // CHECK: [[@LINE+1]]:{{.*}}error: 'ttng.async_tma_copy_global_to_local' copies a part of a buffer whose place is not constant
      ttng.async_tma_copy_global_to_local %x[%c0, %c0] %to, %bar, %true : !tt.tensordesc<tensor<32x64xf16, #shared>>, !bar -> !part
      scf.yield %next, %to : !part, !part
    }
    tt.return
  }
}
