// Calls that are not inlined are allowed in the default region, whose barrier the callee uses, and rejected in
// partitions.
// RUN: not tessera compile %s --target sm_90a --emit llir 2>&1 | FileCheck %s
// RUN: tessera compile %t.mlir --target sm_90a --emit ptx | FileCheck %s --check-prefix=OWN
// CHECK: warp_specialize_calls.mlir:[[#@LINE+25]]:12: error: 'tt.call' cannot be lowered in a warp partition: only the kernel's own warps may call functions
// CHECK-NOT: error

// OWN: .func {{.*}} sum
// OWN: bar.sync 0, 128;
// OWN-NOT: bar.sync 0;
#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @sum(%p: i32) -> i32 attributes {noinline = true} {
    %x = tt.splat %p : i32 -> tensor<128xi32, #d>
    %s = "tt.reduce"(%x) ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) {axis = 0 : i32} : (tensor<128xi32, #d>) -> i32
    tt.return %s : i32
  }
  tt.func public @k(%o: !tt.ptr<i32>, %n: i32) {
    ttg.warp_specialize(%o, %n)
    default {
      %s = tt.call @sum(%n) : (i32) -> i32
      tt.store %o, %s : !tt.ptr<i32>
      ttg.warp_yield
    }
    partition0(%p: !tt.ptr<i32>, %m: i32) num_warps(4) {
      ttg.warp_return
    } : (!tt.ptr<i32>, i32) -> ()
    tt.return
  }
}
