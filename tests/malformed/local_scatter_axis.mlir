#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%m: !ttg.memdesc<128xi32, #s, #smem, mutable>, %i: tensor<128xi32, #b>, %x: i32) {
    ttg.local_scatter %m[%i], %i {axis = 1 : i32} : !ttg.memdesc<128xi32, #s, #smem, mutable>, tensor<128xi32, #b>, tensor<128xi32, #b>
    tt.return
  }
}
