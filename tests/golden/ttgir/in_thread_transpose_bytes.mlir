// tritonamdgpu-in-thread-transpose on RDNA: operands of bytes whose memory runs across K.
// RUN: tessera opt %s -tritonamdgpu-in-thread-transpose --target gfx1100 | FileCheck %s
// RUN: tessera opt %s -tritonamdgpu-in-thread-transpose --target gfx1201 | FileCheck %s

// Four rows become words of the columns, where a thread has as many rows; two stay.
// CHECK-DAG: #[[WORDS:.*]] = #ttg.blocked<{sizePerThread = [4, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[NARROW:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @wmma_bytes
// CHECK: tt.load %{{.*}} : tensor<128x64x!tt.ptr<i8>, #[[WORDS]]>
// CHECK-LABEL: @wmma_narrow
// CHECK: tt.load %{{.*}} : tensor<16x64x!tt.ptr<i8>, #[[NARROW]]>
#rows = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#narrow = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @wmma_bytes(%p: !tt.ptr<i8>, %q: !tt.ptr<i8>, %c: tensor<64x64xi32, #mma>) -> tensor<64x64xi32, #mma> {
    %r = tt.splat %q : !tt.ptr<i8> -> tensor<64x128x!tt.ptr<i8>, #rows>
    %w = tt.load %r : tensor<64x128x!tt.ptr<i8>, #rows>
    %a = ttg.convert_layout %w : tensor<64x128xi8, #rows> -> tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<128x64x!tt.ptr<i8>, #rows>
    %x = tt.load %s : tensor<128x64x!tt.ptr<i8>, #rows>
    %b = ttg.convert_layout %x : tensor<128x64xi8, #rows> -> tensor<128x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
    %d = tt.dot %a, %b, %c : tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<128x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
  }
  tt.func public @wmma_narrow(%p: !tt.ptr<i8>, %q: !tt.ptr<i8>, %c: tensor<64x64xi32, #mma>) -> tensor<64x64xi32, #mma> {
    %r = tt.splat %q : !tt.ptr<i8> -> tensor<64x16x!tt.ptr<i8>, #rows>
    %w = tt.load %r : tensor<64x16x!tt.ptr<i8>, #rows>
    %a = ttg.convert_layout %w : tensor<64x16xi8, #rows> -> tensor<64x16xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<16x64x!tt.ptr<i8>, #narrow>
    %x = tt.load %s : tensor<16x64x!tt.ptr<i8>, #narrow>
    %b = ttg.convert_layout %x : tensor<16x64xi8, #narrow> -> tensor<16x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
    %d = tt.dot %a, %b, %c : tensor<64x16xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<16x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
  }
}
