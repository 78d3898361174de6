// tritongpu-remove-layout-conversions: conversions move down through split and join, where each thread has both halves.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#linear = #ttg.linear<{register = [[0, 0, 1], [0, 1, 0]], lane = [[0, 2, 0], [0, 4, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[8, 0, 0], [16, 0, 0]], block = []}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#half = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#lanes = #ttg.linear<{register = [[0, 1, 0], [0, 2, 0]], lane = [[0, 0, 1], [0, 4, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[8, 0, 0], [16, 0, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @split
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.split %{{.*}} : tensor<32x8x2xf32, #linear> -> tensor<32x8xf32, #[[HALF:.*]]>
  // CHECK-NEXT: arith.addf %{{.*}} : tensor<32x8xf32, #[[HALF]]>
  // CHECK-NEXT: ttg.convert_layout %{{.*}} : tensor<32x8xf32, #[[HALF]]>
  tt.func @split(%p: tensor<32x8x2x!tt.ptr<f32>, #linear>, %q: tensor<32x8x!tt.ptr<f32>, #half>) {
    %v = tt.load %p : tensor<32x8x2x!tt.ptr<f32>, #linear>
    %c = ttg.convert_layout %v : tensor<32x8x2xf32, #linear> -> tensor<32x8x2xf32, #blocked>
    %l, %r = tt.split %c : tensor<32x8x2xf32, #blocked> -> tensor<32x8xf32, #half>
    %s = arith.addf %l, %r : tensor<32x8xf32, #half>
    tt.store %q, %s : tensor<32x8x!tt.ptr<f32>, #half>
    tt.return
  }
  // Two lanes have the halves: the conversion stays.
  // CHECK-LABEL: @across_lanes
  // CHECK: ttg.convert_layout %{{.*}} : tensor<32x8x2xf32, #linear2> -> tensor<32x8x2xf32,
  // CHECK-NEXT: tt.split
  tt.func @across_lanes(%p: tensor<32x8x2x!tt.ptr<f32>, #lanes>, %q: tensor<32x8x!tt.ptr<f32>, #half>) {
    %v = tt.load %p : tensor<32x8x2x!tt.ptr<f32>, #lanes>
    %c = ttg.convert_layout %v : tensor<32x8x2xf32, #lanes> -> tensor<32x8x2xf32, #blocked>
    %l, %r = tt.split %c : tensor<32x8x2xf32, #blocked> -> tensor<32x8xf32, #half>
    %s = arith.addf %l, %r : tensor<32x8xf32, #half>
    tt.store %q, %s : tensor<32x8x!tt.ptr<f32>, #half>
    tt.return
  }
}
