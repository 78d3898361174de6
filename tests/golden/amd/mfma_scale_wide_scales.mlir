// Operands of 8 bits of which a lane holds 32 in sequence along K cannot have scales that differ: the instruction takes
// those of 32 elements in sequence from two lanes.
// RUN: not tessera compile %s --target gfx950 --emit amdgcn -o - 2>&1 | FileCheck %s
// CHECK: error: 'tt.dot_scaled' has operands or scales in other layouts than the matrix instruction's
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 128], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 32}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 32}>
#s = #ttg.linear<{register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = [], block = []}>
#smem = #ttg.shared_memory
#rows = #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 1, order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @other_scales(%s: !tt.ptr<i8>, %o: !tt.ptr<f32>) {
    %x0 = ttg.local_alloc : () -> !ttg.memdesc<16x128xf8E4M3FN, #rows, #smem, mutable>
    %y0 = ttg.local_alloc : () -> !ttg.memdesc<128x16xf8E4M3FN, #columns, #smem, mutable>
    %x = ttg.local_load %x0 : !ttg.memdesc<16x128xf8E4M3FN, #rows, #smem, mutable> -> tensor<16x128xf8E4M3FN, #a>
    %y = ttg.local_load %y0 : !ttg.memdesc<128x16xf8E4M3FN, #columns, #smem, mutable> -> tensor<128x16xf8E4M3FN, #b>
    %q = tt.splat %s : !tt.ptr<i8> -> tensor<16x4x!tt.ptr<i8>, #s>
    %t = tt.load %q : tensor<16x4x!tt.ptr<i8>, #s>
    %z = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %d = tt.dot_scaled %x, %y scale %t, %z lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x128xf8E4M3FN, #a> * tensor<128x16xf8E4M3FN, #b>, tensor<16x4xi8, #s> -> tensor<16x16xf32, #mma>
    %p = tt.splat %o : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #mma>
    tt.store %p, %d : tensor<16x16x!tt.ptr<f32>, #mma>
    tt.return
  }
}
