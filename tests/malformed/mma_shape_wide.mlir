#l = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 512, 16]}>
module {
  tt.func @f(%a: tensor<64x512xf32, #l>) {
    tt.return
  }
}
