#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: !tt.ptr<f32>, %o: tensor<64xi32, #b>) {
    %0 = amdg.buffer_load %p[%o] : tensor<128xf32, #b>
    tt.return
  }
}
