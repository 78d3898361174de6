// Layouts and buffers as dumps of 2023 and 2024 have them.
#blocked = #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#blocked1 = #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#shared = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>
#shared1 = #triton_gpu.shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1], hasLeadingOffset = false}>
#mma = #triton_gpu.nvidia_mma<{versionMajor = 2, versionMinor = 1, warpsPerCTA = [4, 1], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0], instrShape = [16, 8]}>
module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 4 : i32, triton_gpu.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  tt.func public @buffers(%arg0: tensor<128x32xf16, #blocked1>, %arg1: i32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %0 = triton_gpu.local_alloc : () -> !tt.memdesc<2x128x32xf16, #shared, mutable>
    %1 = triton_gpu.memdesc_subview %0[%arg1, %c0_i32, %c0_i32] : !tt.memdesc<2x128x32xf16, #shared, mutable> -> !tt.memdesc<128x32xf16, #shared, mutable>
    triton_gpu.local_store %arg0, %1 : tensor<128x32xf16, #blocked1> -> !tt.memdesc<128x32xf16, #shared, mutable>
    %2 = triton_gpu.local_load %1 : !tt.memdesc<128x32xf16, #shared, mutable> -> tensor<128x32xf16, #triton_gpu.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %3 = triton_gpu.convert_layout %arg0 : (tensor<128x32xf16, #blocked1>) -> tensor<128x32xf16, #shared1>
    tt.return
  }
}
// -----
#blocked = #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func public @cluster(%arg0: tensor<128x32xf16, #blocked>, %arg1: !tt.tensordesc<128x64xf16>) {
    tt.return
  }
}
