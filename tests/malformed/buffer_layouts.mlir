module {
  tt.func public @f(%x: !ttg.memdesc<16xf32>) {
    tt.return
  }
  tt.func public @g(%x: !ttg.memdesc<16xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>, #ttg.shared_memory>) {
    tt.return
  }
}
