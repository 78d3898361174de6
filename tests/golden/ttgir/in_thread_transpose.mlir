// tritonamdgpu-in-thread-transpose: operands whose memory runs across K and that are loaded element by element.
// Threads load columns and write vectors along K.
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose --target gfx942 | FileCheck %s
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands --target gfx942 | FileCheck %s --check-prefix=SHARED
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose --target sm_80 | FileCheck %s --check-prefix=NVIDIA
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose --target gfx950 | FileCheck %s --check-prefix=OTHERS
// RUN: tessera opt %s -split-input-file -tritonamdgpu-in-thread-transpose --target gfx1201 | FileCheck %s --check-prefix=OTHERS

// Rows of vectors across K: a thread gets two of them, with a word of each column. Rows along K stay; so do all where
// reads of LDS transpose, and those of more than a byte on RDNA.
// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8]
// CHECK-DAG: #[[PAIRS:.*]] = #ttg.blocked<{sizePerThread = [2, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @rows
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[ROWS]]>
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[PAIRS]]>
// CHECK: tt.return
// OTHERS-LABEL: @rows
// OTHERS-NOT: ttg.convert_layout %{{.*}}x!tt.ptr
// OTHERS: tt.return
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

// Bytes: loads of 8 bytes, four rows of them. Where the other operand is computed, vector instructions are busy: rows
// stay.
// CHECK-DAG: #[[BYTES:.*]] = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 4]
// CHECK-DAG: #[[WORDS:.*]] = #ttg.blocked<{sizePerThread = [4, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @bytes
// CHECK: tt.load %{{.*}} : tensor<128x64x!tt.ptr<i8>, #[[WORDS]]>
// CHECK-LABEL: @computed
// CHECK: tt.load %{{.*}} : tensor<128x64x!tt.ptr<i8>, #[[BYTES]]>
#rows = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i8>, %q: !tt.ptr<i8>, %c: tensor<64x64xi32, #mma>) -> tensor<64x64xi32, #mma> {
    %r = tt.splat %q : !tt.ptr<i8> -> tensor<64x128x!tt.ptr<i8>, #rows>
    %w = tt.load %r : tensor<64x128x!tt.ptr<i8>, #rows>
    %a = ttg.convert_layout %w : tensor<64x128xi8, #rows> -> tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<128x64x!tt.ptr<i8>, #blocked>
    %x = tt.load %s : tensor<128x64x!tt.ptr<i8>, #blocked>
    %b = ttg.convert_layout %x : tensor<128x64xi8, #blocked> -> tensor<128x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %c : tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<128x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
  }
  tt.func public @computed(%p: !tt.ptr<i8>, %a: tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>, %c: tensor<64x64xi32, #mma>) -> tensor<64x64xi32, #mma> {
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<128x64x!tt.ptr<i8>, #blocked>
    %x = tt.load %s : tensor<128x64x!tt.ptr<i8>, #blocked>
    %b = ttg.convert_layout %x : tensor<128x64xi8, #blocked> -> tensor<128x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %c : tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<128x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
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

// -----

// Words that the instruction takes in runs along K: nothing is permuted, and they are written as pairs. Not where it
// takes them one by one.
// CHECK-DAG: #[[WORDS4:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16]
// CHECK-DAG: #[[PAIRSOF4:.*]] = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @words
// CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<f32>, #[[PAIRSOF4]]>
// CHECK: tt.return
// CHECK-LABEL: @words_one_by_one
// CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<f32>, #[[WORDS4]]>
// CHECK: tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 2], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @words(%p: !tt.ptr<f32>, %a: tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>, #blocked>
    %y = tt.load %s : tensor<32x64x!tt.ptr<f32>, #blocked>
    %b = ttg.convert_layout %y : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    %d = tt.dot %a, %b, %c : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
  tt.func public @words_one_by_one(%p: !tt.ptr<f32>, %a: tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>, #blocked>
    %y = tt.load %s : tensor<32x64x!tt.ptr<f32>, #blocked>
    %b = ttg.convert_layout %y : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>>
    %d = tt.dot %a, %b, %c : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>> * tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
