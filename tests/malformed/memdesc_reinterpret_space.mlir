#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%m: !ttg.memdesc<128xi32, #s, #smem, mutable>, %i: tensor<128xi32, #b>, %x: i32) {
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<128xi32, #s, #smem, mutable> -> !ttg.memdesc<128x1xf32, #t, #ttng.tensor_memory, mutable>
    tt.return
  }
}
