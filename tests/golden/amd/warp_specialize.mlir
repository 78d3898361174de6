// RUN: not tessera compile %s --target gfx942 --emit llir 2>&1 | FileCheck %s
// Partitions of warps need barriers that are for them alone.
// CHECK: warp_specialize.mlir:[[#@LINE+3]]:5: error: 'ttg.warp_specialize' cannot be lowered: gfx942 has no barriers for a part of a block's warps
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
