// A kernel beside one with partitions has its own warps alone; the other one is left out.
// RUN: tessera compile %s --kernel plain --target sm_90a --emit ptx --metadata %t.json -o - | FileCheck %s
// RUN: FileCheck %s --check-prefix=META --input-file %t.json
// RUN: tessera compile %s --kernel specialized --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=OTHER
// CHECK-NOT: specialized
// CHECK: .entry plain(
// CHECK: .reqntid 128
// CHECK-NOT: specialized
// META: "threads_per_block": 128
// OTHER-NOT: plain
// OTHER: .entry specialized(
// OTHER: .reqntid 160
// OTHER-NOT: plain
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#one = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @plain(%out: !tt.ptr<i32>) {
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #blocked>
    %s = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>
    %p = tt.addptr %s, %r : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
    tt.store %p, %r : tensor<128x!tt.ptr<i32>, #blocked>
    tt.return
  }
  tt.func public @specialized(%out: !tt.ptr<i32>) {
    ttg.warp_specialize(%out)
    default {
      ttg.warp_yield
    }
    partition0(%mine: !tt.ptr<i32>) num_warps(1) {
      %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
      %s = tt.splat %mine : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
      %p = tt.addptr %s, %r : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
      tt.store %p, %r : tensor<128x!tt.ptr<i32>, #one>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}
