// The B operand of a dot by warp groups may be a part of a buffer: of 64 x 128 elements of 2 bytes, whose halves of
// 64 columns have rows of 128 bytes each, rows 32 to 47 of the second half. They begin 8,192 + 32 * 128 bytes further.
// RUN: tessera compile %s --target sm_90a --emit llir -o - | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @part
  // CHECK: getelementptr {{.*}}i8, ptr addrspace(3) {{.*}}12288
  // CHECK: wgmma.mma_async.sync.aligned.m64n64k16
  // CHECK-NOT: wgmma.mma_async
  tt.func public @part(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<64x16xf16, #a>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %part = ttg.memdesc_subslice %b[32, 64] : !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x64xf16, #shared, #smem, mutable, 64x128>
    %d = ttng.warp_group_dot %x, %part, %zero : tensor<64x16xf16, #a> * !ttg.memdesc<16x64xf16, #shared, #smem, mutable, 64x128> -> tensor<64x64xf32, #mma>
    %pp = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %pp, %d : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
