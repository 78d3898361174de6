// Every layout in Triton's order of parameters, inline and as aliases grouped by name, numbered by first use.
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#generic_linear = #ttg.generic_linear<{register = [[1, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [2, 0], [4, 0]], warp = [[8, 0], [0, 16]], block = [[0, 0]]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = [[0, 0]]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[0, 0]], instrShape = [16, 8]}>
#mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[0, 0]], instrShape = [16, 64, 16]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8, fp4Padded = true}>
#shared3 = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32, rank = 1}>
#shared4 = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>
#shared5 = #ttg.padded_shared<[32:+8, 256:+16] {order = [1, 0], shape = [32, 64]}>
#shared6 = #ttg.padded_shared<[64:+4] {order = [0], shape = [64]}>
#shared7 = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0]], block = [[2, 0]]}, alignment = 16>
#shared8 = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = #shared9}>
#shared9 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2, CGALayout = [[1, 0]], twoCTAs = true>
#tmem_scales = #ttng.tensor_memory_scales_encoding<>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @distributed(%arg0: tensor<32x64xf32, #blocked>, %arg1: tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>>, %arg2: tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %arg3: tensor<64x64xf32, #mma1>, %arg4: tensor<16x32xf32, #linear>, %arg5: tensor<16x32xf32, #generic_linear>, %arg6: tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>) {
    tt.return
  }
  tt.func public @memory(%arg0: !ttg.memdesc<32x64xf16, #shared, #smem>, %arg1: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %arg2: !ttg.memdesc<32x64xi8, #shared2, #smem, mutable, 4x32x64>, %arg3: !ttg.memdesc<16xf32, #shared3, #smem>, %arg4: !ttg.memdesc<32x64xf16, #shared4, #smem>, %arg5: !ttg.memdesc<32x64xf16, #shared5, #smem>, %arg6: !ttg.memdesc<64xf16, #shared6, #smem>, %arg7: !ttg.memdesc<4x4xf16, #shared7, #smem>, %arg8: !ttg.memdesc<4x4xf16, #shared8, #smem>, %arg9: !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, %arg10: !ttg.memdesc<128x64xf16, #tmem1, #ttng.tensor_memory, mutable>, %arg11: !ttg.memdesc<128x4xi8, #tmem_scales, #ttng.tensor_memory>) {
    tt.return
  }
}
// -----
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#mma1 = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 32], isTransposed = false, tilesPerWarp = [2, 2], elementBitWidth = 64}>
#mma2 = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>
module {
  tt.func public @amd(%arg0: tensor<64x64xf32, #mma>, %arg1: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 8}>>, %arg2: tensor<64x64xf32, #mma2>) {
    tt.return
  }
}
