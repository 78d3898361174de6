#bad = #ttg.generic_linear<{register = [[2, 1]], lane = [[0, 1]], warp = [], block = []}>
tt.func @f(%n: i32) {
  %t = tt.splat %n : i32 -> tensor<4x2xi32, #bad>
  %g = ttg.async_commit_group tokens %t
  %c = arith.cmpi sge, %n, %n : i32
  scf.if %c {
  }
  tt.return
}
