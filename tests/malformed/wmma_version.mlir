#l = #ttg.amd_wmma<{version = 7, isTranspose = true, warpsPerCTA = [2, 2]}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
