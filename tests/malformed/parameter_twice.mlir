#l = #ttg.blocked<{sizePerThread = [1, 1], sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
