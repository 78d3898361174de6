// Through one descriptor, boxes of a warp group's rows and whole ones.
#rows = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<128x64xf16, #rows>
!buffer = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @mixed(%d: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %v = arith.constant dense<1.0> : !tile
    ttg.warp_specialize(%n)
    default {
      %b = ttg.local_alloc %v {tessera.warp_group_rows = 64 : i32} : (!tile) -> !buffer
      ttng.async_tma_copy_local_to_global %d[%n, %c0] %b {tessera.warp_group_rows = 64 : i32} : !desc, !buffer
      ttng.async_tma_copy_local_to_global %d[%c0, %c0] %b : !desc, !buffer
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
