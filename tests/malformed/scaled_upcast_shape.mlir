#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @kernel(%x: tensor<32x64xi8, #b>, %s: tensor<32x4xi8, #b>) {
    %y = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<32x64xi8, #b>, tensor<32x4xi8, #b> -> tensor<32x128xf16, #b>
    tt.return
  }
}
