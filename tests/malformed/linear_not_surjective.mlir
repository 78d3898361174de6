tt.func @f(%a: tensor<4xi32, #ttg.linear<{register = [[2]], lane = [], warp = [], block = []}>>) {
  tt.return
}
