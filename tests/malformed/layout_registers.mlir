// A layout made for a far larger tensor: nearly all of its registers would be copies.
#many = #ttg.blocked<{sizePerThread = [1048576, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%x: tensor<64x64xf16, #many>) {
    tt.return
  }
}
