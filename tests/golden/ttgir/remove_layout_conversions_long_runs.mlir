// Stores in the layout of the value: not where a lane holds a run of more than a sector of memory (32 bytes) while the
// store's layout has lanes side by side. Each access would write a part of as many sectors as there are lanes.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_90a | FileCheck %s

// 64 bytes: 32 lanes write 16 bytes each of different sectors, four times.
// CHECK-DAG: #[[SIDE_BY_SIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32]
// CHECK-DAG: #[[RUNS:.*]] = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [2, 16]
// CHECK-LABEL: @long
// CHECK: %[[V:.*]] = tt.load
// CHECK: ttg.convert_layout {{.*}} -> tensor<32x256xf16, #[[SIDE_BY_SIDE]]>
// CHECK: tt.store {{.*}} : tensor<32x256x!tt.ptr<f16>, #[[SIDE_BY_SIDE]]>

// 32 bytes: the second access fills the sectors.
// CHECK-LABEL: @sector
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.store {{.*}} : tensor<32x256x!tt.ptr<f16>, #[[RUNS]]>
#now = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#long = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#sector = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @long(%p: tensor<32x256x!tt.ptr<f16>, #long>, %out: !tt.ptr<f16>) {
    %v = tt.load %p : tensor<32x256x!tt.ptr<f16>, #long>
    %w = ttg.convert_layout %v : tensor<32x256xf16, #long> -> tensor<32x256xf16, #now>
    %q = tt.splat %out : !tt.ptr<f16> -> tensor<32x256x!tt.ptr<f16>, #now>
    tt.store %q, %w : tensor<32x256x!tt.ptr<f16>, #now>
    tt.return
  }
  tt.func public @sector(%p: tensor<32x256x!tt.ptr<f16>, #sector>, %out: !tt.ptr<f16>) {
    %v = tt.load %p : tensor<32x256x!tt.ptr<f16>, #sector>
    %w = ttg.convert_layout %v : tensor<32x256xf16, #sector> -> tensor<32x256xf16, #now>
    %q = tt.splat %out : !tt.ptr<f16> -> tensor<32x256x!tt.ptr<f16>, #now>
    tt.store %q, %w : tensor<32x256x!tt.ptr<f16>, #now>
    tt.return
  }
}
