#l = #ttg.nvidia_mma<{versionMajor = 8, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
