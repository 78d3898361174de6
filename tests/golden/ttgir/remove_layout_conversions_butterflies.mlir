// Halves that different lanes hold are split in the nearest layout where each thread has both, if they are joined again:
// a bit of the lane and the farthest one of the register change places, rather than all elements. Not if they are not
// joined: what is stored may want another layout.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target gfx942 --verify-each | FileCheck %s
// Where elements change lanes through memory, as on NVIDIA, the layout stays.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_90a --verify-each | FileCheck %s --check-prefix=MEMORY
// CHECK-DAG: #[[NEAREST:.*]] = #ttg.linear<{register = [{{\[}}0, 0, 1, 0], [0, 0, 2, 0], [0, 0, 0, 1]], lane = [{{\[}}2, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0], [0, 4, 0, 0], [0, 8, 0, 0]{{.*}}
// CHECK-DAG: #[[DEFAULT:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 1, 2], threadsPerWarp = [1, 16, 2, 1], warpsPerCTA = [4, 1, 1, 1], order = [3, 2, 1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 1, 1, 2], threadsPerWarp = [1, 16, 2, 1], warpsPerCTA = [4, 1, 1, 1], order = [3, 2, 1, 0]}>
#half = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 16, 2], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#split = #ttg.linear<{register = [[0, 0, 1, 0], [0, 0, 2, 0], [2, 0, 0, 0]], lane = [[0, 0, 0, 1], [0, 1, 0, 0], [0, 2, 0, 0], [0, 4, 0, 0], [0, 8, 0, 0]], warp = [[1, 0, 0, 0], [4, 0, 0, 0]], block = []}>
#out = #ttg.linear<{register = [[0, 0, 2, 0], [0, 0, 1, 0], [0, 0, 0, 1]], lane = [[2, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0], [0, 4, 0, 0], [0, 8, 0, 0]], warp = [[1, 0, 0, 0], [4, 0, 0, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @joined
  // CHECK: ttg.convert_layout {{.*}} -> tensor<8x16x4x2xf32, #[[NEAREST]]>
  // CHECK-NEXT: tt.split
  // MEMORY-LABEL: @joined
  // MEMORY: tt.split {{.*}} : tensor<8x16x4x2xf32, #blocked>
  tt.func @joined(%p: tensor<8x16x4x2x!tt.ptr<f32>, #split>, %q: tensor<8x16x4x2x!tt.ptr<f32>, #out>) {
    %x = tt.load %p : tensor<8x16x4x2x!tt.ptr<f32>, #split>
    %y = ttg.convert_layout %x : tensor<8x16x4x2xf32, #split> -> tensor<8x16x4x2xf32, #pairs>
    %a, %b = tt.split %y : tensor<8x16x4x2xf32, #pairs> -> tensor<8x16x4xf32, #half>
    %s = arith.addf %a, %b : tensor<8x16x4xf32, #half>
    %d = arith.subf %a, %b : tensor<8x16x4xf32, #half>
    %j = tt.join %s, %d : tensor<8x16x4xf32, #half> -> tensor<8x16x4x2xf32, #pairs>
    %z = ttg.convert_layout %j : tensor<8x16x4x2xf32, #pairs> -> tensor<8x16x4x2xf32, #out>
    tt.store %q, %z : tensor<8x16x4x2x!tt.ptr<f32>, #out>
    tt.return
  }
  // CHECK-LABEL: @stored
  // CHECK: ttg.convert_layout {{.*}} -> tensor<8x16x4x2xf32, #[[DEFAULT]]>
  // CHECK-NEXT: tt.split
  tt.func @stored(%p: tensor<8x16x4x2x!tt.ptr<f32>, #split>, %q: tensor<8x16x4x!tt.ptr<f32>, #half>) {
    %x = tt.load %p : tensor<8x16x4x2x!tt.ptr<f32>, #split>
    %y = ttg.convert_layout %x : tensor<8x16x4x2xf32, #split> -> tensor<8x16x4x2xf32, #pairs>
    %a, %b = tt.split %y : tensor<8x16x4x2xf32, #pairs> -> tensor<8x16x4xf32, #half>
    %s = arith.addf %a, %b : tensor<8x16x4xf32, #half>
    tt.store %q, %s : tensor<8x16x4x!tt.ptr<f32>, #half>
    tt.return
  }
}
