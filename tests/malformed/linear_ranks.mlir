#l = #ttg.linear<{register = [[0, 1], [2]], lane = [], warp = [], block = []}>
module {
  tt.func public @f(%a: tensor<64x64xf32, #l>) {
    tt.return
  }
}
