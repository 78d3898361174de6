#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: i32) {
    %0 = tt.splat %a : i32 -> tensor<64xi32, #blocked>
    %1 = tt.splat %a : i32 -> tensor<64xi32>
    tt.return
  }
}
