// ttg.warp_specialize is rejected: partitions need barriers for a subset of a block's waves.
// RUN: not tessera compile %s --target gfx942 --emit llir 2>&1 | FileCheck %s
// CHECK: warp_specialize_errors.mlir:[[#@LINE+3]]:5: error: 'ttg.warp_specialize' cannot be lowered: gfx942 has no barriers for a part of a block's warps
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
