#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @f(%p: !tt.ptr<f32>, %i: tensor<1024xi32, #b>, %x: tensor<1024xf32, #b>, %j: tensor<256xi32, #b>) {
    %0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %x, %p[%j] : tensor<1024xf32, #b>
    tt.return
  }
}
