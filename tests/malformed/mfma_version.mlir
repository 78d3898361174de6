#l = #ttg.amd_mfma<{version = 9, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
