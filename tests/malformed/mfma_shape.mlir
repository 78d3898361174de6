#l = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [33, 32, 8], isTransposed = true}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
