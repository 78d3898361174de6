#d = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#r = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
!tensor = !ttg.memdesc<128x64xf16, #d, #ttng.tensor_memory, mutable>
!shared = !ttg.memdesc<128x64xf16, #s, #smem, mutable>
!right = !ttg.memdesc<64x64xf16, #s, #smem, mutable>
!rightTensor = !ttg.memdesc<64x64xf16, #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable>
!sum = !ttg.memdesc<128x64xf32, #d, #ttng.tensor_memory, mutable>
!sumShared = !ttg.memdesc<128x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
!barTensor = !ttg.memdesc<128x64xi32, #d, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%a: !tensor, %b: !right, %bTensor: !rightTensor, %d: !sum, %dShared: !sumShared, %true: i1, %bar: !bar, %barTensor: !barTensor) {
    ttng.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async} : !tensor, !right, !sum, !bar
    ttng.tc_gen5_mma %a, %bTensor, %d, %true, %true, %bar[%true] {is_async} : !tensor, !rightTensor, !sum, !bar
    ttng.tc_gen5_mma %a, %b, %dShared, %true, %true, %bar[%true] {is_async} : !tensor, !right, !sumShared, !bar
    ttng.tc_gen5_mma %a, %b, %d, %true, %true, %barTensor[%true] {is_async} : !tensor, !right, !sum, !barTensor
    ttng.tc_gen5_mma %a, %b, %d, %true, %true, %true[%true] {is_async} : !tensor, !right, !sum, i1
    tt.return
  }
}
