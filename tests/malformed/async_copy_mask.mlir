#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: tensor<128x!tt.ptr<f32>, #b>, %m: !ttg.memdesc<128xf32, #s, #smem, mutable>, %c: tensor<64xi1, #b>) {
    %0 = ttg.async_copy_global_to_local %p, %m mask %c : tensor<128x!tt.ptr<f32>, #b> -> <128xf32, #s, #smem, mutable>
    tt.return
  }
}
