#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: tensor<128xf32, #b>, %m: !ttg.memdesc<128xf32, #s, #ttg.shared_memory>) {
    ttg.local_store %a, %m : tensor<128xf32, #b> -> !ttg.memdesc<128xf32, #s, #ttg.shared_memory>
    tt.return
  }
}
