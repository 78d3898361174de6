#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #d>
    ttg.warp_specialize()
    default {
      %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #d>
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #d>
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
