// tritonamdgpu-in-thread-transpose: operands whose memory runs across K and that are loaded element by element.
// Threads load columns and write vectors along K.
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose --target gfx942 | FileCheck %s
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands --target gfx942 | FileCheck %s --check-prefix=SHARED
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose --target sm_80 | FileCheck %s --check-prefix=NVIDIA

// Rows of vectors stay.
// CHECK-LABEL: @rows
// CHECK-NOT: ttg.convert_layout %{{.*}}x!tt.ptr
// CHECK: tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @rows(%p: !tt.ptr<f16>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %x = tt.load %s : tensor<64x64x!tt.ptr<f16>, #blocked>
    %y = tt.load %s : tensor<64x64x!tt.ptr<f16>, #blocked>
    %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
    %b = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// Elements: the first load becomes one of columns. A second user keeps a load as it is.
// CHECK-DAG: #[[ELEMENTS:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64]
// CHECK-DAG: #[[COLUMNS:.*]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @elements
// CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<i8>, #[[COLUMNS]]>
// CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<i8>, #[[ELEMENTS]]>
// The buffer has the eight of a column side by side.
// SHARED: #ttg.shared_linear<{offset = {{\[\[}}1, 0], [2, 0], [4, 0],
// SHARED-LABEL: @elements
// SHARED-NOT: ttg.convert_layout
// SHARED: tt.return
// NVIDIA-LABEL: @elements
// NVIDIA-NOT: ttg.convert_layout %{{.*}}x!tt.ptr
// NVIDIA: tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @elements(%p: !tt.ptr<i8>, %a: tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>, %c: tensor<64x64xi32, #mma>) -> (tensor<64x64xi32, #mma>, tensor<32x64xi8, #blocked>) {
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<32x64x!tt.ptr<i8>, #blocked>
    %x = tt.load %s : tensor<32x64x!tt.ptr<i8>, #blocked>
    %y = tt.load %s : tensor<32x64x!tt.ptr<i8>, #blocked>
    %b = ttg.convert_layout %x : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %e = ttg.convert_layout %y : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %c : tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<64x64xi32, #mma>
    %f = tt.dot %a, %e, %d : tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<64x64xi32, #mma>
    tt.return %f, %y : tensor<64x64xi32, #mma>, tensor<32x64xi8, #blocked>
  }
}
