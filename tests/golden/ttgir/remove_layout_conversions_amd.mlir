// Results of AMD matrix instructions are stored in the accumulator's layout where a lane's accesses are at least 8
// bytes; where a lane holds every second element (RDNA 3), or the address allows only narrow accesses, they are
// converted to whole rows first.
// RUN: tessera opt %s -split-input-file -tritongpu-remove-layout-conversions | FileCheck %s

// CHECK: #[[MMA:.*]] = #ttg.amd_mfma
// CHECK-LABEL: @mfma
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @mfma(%p: !tt.ptr<f16>, %v: tensor<64x64xf16, #mma>) {
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %x = ttg.convert_layout %v : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.store %s, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// CHECK-LABEL: @narrow
// CHECK: ttg.convert_layout
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @narrow(%p: !tt.ptr<f16>, %v: tensor<64x64xf16, #mma>) {
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %x = ttg.convert_layout %v : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.store %s, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// CHECK-LABEL: @rdna3
// CHECK: ttg.convert_layout
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rdna3(%p: !tt.ptr<f32>, %v: tensor<64x64xf32, #mma>) {
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %x = ttg.convert_layout %v : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    tt.store %s, %x : tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
