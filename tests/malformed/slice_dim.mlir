tt.func @f(%a: tensor<128xi32, #ttg.slice<{dim = 5, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>>) {
  tt.return
}
