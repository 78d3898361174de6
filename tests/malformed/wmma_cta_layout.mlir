#l = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0, 0]]}}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
