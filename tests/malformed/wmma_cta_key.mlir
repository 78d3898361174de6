#l = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {lane = [[0, 1]]}}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
