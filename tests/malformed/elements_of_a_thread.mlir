#b = #ttg.blocked<{sizePerThread = [4294967296], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func public @f(%x: i32) {
    %0 = tt.splat %x : i32 -> tensor<128xi32, #b>
    tt.return
  }
}
