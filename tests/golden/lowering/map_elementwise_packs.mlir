// A thread computes whole packs: a layout in which it has fewer elements is an error, not a guess of the others.
// RUN: not tessera compile %s --target sm_90a --emit llir -o %t 2>&1 | FileCheck %s
// CHECK: error: 'tt.map_elementwise' packs a number of elements that does not divide a thread's 1
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.target" = "cuda:90"} {
  tt.func public @swap(%p: !tt.ptr<i32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %r = "tt.map_elementwise"(%i) <{pack = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      tt.map_elementwise.return %b, %a : i32, i32
    }) : (tensor<128xi32, #one>) -> tensor<128xi32, #one>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
    %q = tt.addptr %s, %i : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
    tt.store %q, %r : tensor<128x!tt.ptr<i32>, #one>
    tt.return
  }
}
