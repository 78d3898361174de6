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
  tt.func public @spaces(%x: !ttg.memdesc<128x64xf32, #d, #smem, mutable>, %y: !ttg.memdesc<128x64xf16, #s, #ttng.tensor_memory, mutable>) {
    tt.return
  }
  tt.func public @tensorMemory(%shared: !shared, %tensor: !tensor, %t: tensor<128x64xf16, #r>, %true: i1) {
    %0 = ttng.tmem_alloc : () -> !shared
    %1 = ttng.tmem_load %shared : !shared -> tensor<128x64xf16, #r>
    ttng.tmem_store %t, %shared, %true : tensor<128x64xf16, #r> -> !shared
    %2 = ttng.tmem_subslice %shared {N = 0 : i32} : !shared -> !shared
    tt.return
  }
  tt.func public @sharedMemory(%tensor: !tensor, %t: tensor<128x64xf16, #r>, %desc: !tt.tensordesc<128x64xf16, #s>, %c0: i32, %true: i1, %bar: !bar) {
    %0 = ttg.local_alloc : () -> !tensor
    %1 = ttg.local_load %tensor : !tensor -> tensor<128x64xf16, #r>
    ttg.local_store %t, %tensor : tensor<128x64xf16, #r> -> !tensor
    ttg.local_dealloc %tensor : !tensor
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tensor, %bar, %true : !tt.tensordesc<128x64xf16, #s>, !bar -> !tensor
    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %tensor : !tt.tensordesc<128x64xf16, #s>, !tensor
    tt.return
  }
  tt.func public @barriers(%bar: !barTensor, %c0: i32, %true: i1) {
    ttng.init_barrier %bar, 1 : !barTensor
    ttng.barrier_expect %bar, 4, %true : !barTensor
    ttng.wait_barrier %bar, %c0 : !barTensor
    ttng.arrive_barrier %bar, 1 : !barTensor
    ttng.inval_barrier %bar : !barTensor
    ttng.tc_gen5_commit %bar : !barTensor
    tt.return
  }
  tt.func public @views(%s: !ttg.memdesc<2x128x64xf16, #s, #smem, mutable>, %c0: i32) {
    %0 = ttg.memdesc_index %s[%c0] : !ttg.memdesc<2x128x64xf16, #s, #smem, mutable> -> !tensor
    tt.return
  }
}
