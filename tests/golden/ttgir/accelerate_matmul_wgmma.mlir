// wgmma: operands come from swizzled shared memory, or from registers where the layout does not suit the unit; proxy
// fences order the threads' writes before the unit's reads.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --split-input-file | FileCheck %s
// RUN: tessera opt %s -tritongpu-accelerate-matmul -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands -tritongpu-pipeline=num-stages=3 -triton-nvidia-gpu-fence-insertion -allocate-shared-memory -insert-barriers --target sm_90a --split-input-file | FileCheck %s --check-prefix=FENCE
// On a target without warp groups there are none.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_80 --split-input-file | FileCheck %s --check-prefix=SM80
// SM80-NOT: warp_group_dot

// A B operand of f32 whose rows run across K: the transposed dot takes it as its A operand, in registers.
// CHECK-LABEL: @across
// CHECK: %[[T:.*]] = tt.trans %{{.*}} -> tensor<64x32xf32
// CHECK: %[[L:.*]] = ttg.convert_layout %[[T]] : {{.*}} -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #[[MMA:.*]], kWidth = 1}>>
// CHECK: %[[R:.*]] = ttg.memdesc_trans
// CHECK: %[[D:.*]] = ttng.warp_group_dot %[[L]], %[[R]], {{.*}} -> tensor<64x128xf32, #[[MMA]]>
// CHECK: tt.trans %[[D]] {{.*}} -> tensor<128x64xf32
//
// What threads store is fenced by them, before the barrier.
// FENCE-LABEL: @across
// FENCE: ttg.local_alloc
// FENCE: ttng.fence_async_shared
// FENCE: gpu.barrier
// FENCE: ttng.warp_group_dot
#l = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @across(%u: tensor<128x32xf32, #l>, %v: tensor<32x64xf32, #l>, %c: tensor<128x64xf32, #acc>) -> tensor<128x64xf32, #acc> {
    %x = ttg.convert_layout %u : tensor<128x32xf32, #l> -> tensor<128x32xf32, #a>
    %y = ttg.convert_layout %v : tensor<32x64xf32, #l> -> tensor<32x64xf32, #b>
    %d = tt.dot %x, %y, %c, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<128x64xf32, #acc>
    tt.return %d : tensor<128x64xf32, #acc>
  }
}

// -----

// A chain, as in attention: the second dot's A operand stays in registers, the first's comes from shared memory.
// CHECK-LABEL: @chain
// CHECK: %[[S:.*]] = ttng.warp_group_dot %{{.*}} : !ttg.memdesc
// CHECK: %[[P:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #{{.*}}, kWidth = 2}>>
// CHECK: ttng.warp_group_dot %[[P]], {{.*}} : tensor<64x64xf16, {{.*}}> * !ttg.memdesc
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @chain(%q: tensor<64x64xf16, #l>, %k: tensor<64x64xf16, #l>, %v: tensor<64x64xf16, #l>, %c: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %x = ttg.convert_layout %q : tensor<64x64xf16, #l> -> tensor<64x64xf16, #a>
    %y = ttg.convert_layout %k : tensor<64x64xf16, #l> -> tensor<64x64xf16, #b>
    %z = ttg.convert_layout %v : tensor<64x64xf16, #l> -> tensor<64x64xf16, #b>
    %s = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    %p = arith.truncf %s : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
    %p1 = ttg.convert_layout %p : tensor<64x64xf16, #acc> -> tensor<64x64xf16, #a>
    %d = tt.dot %p1, %z, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }
}

// -----

// A dot of 8-bit types whose result is added to a tensor: the tensor becomes its accumulator.
// CHECK-LABEL: @added
// CHECK-NOT: arith.addf
// CHECK: ttng.warp_group_dot {{.*}} {maxNumImpreciseAcc = 64 : i32}
// CHECK-NOT: arith.addf
// CHECK: tt.return
#l = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#t = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @added(%u: tensor<64x64xf8E4M3FN, #l>, %v: tensor<64x256xf8E4M3FN, #t>, %c: tensor<64x256xf32, #acc>) -> tensor<64x256xf32, #acc> {
    %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
    %x = ttg.convert_layout %u : tensor<64x64xf8E4M3FN, #l> -> tensor<64x64xf8E4M3FN, #a>
    %y = ttg.convert_layout %v : tensor<64x256xf8E4M3FN, #t> -> tensor<64x256xf8E4M3FN, #b>
    %d = tt.dot %x, %y, %zero {maxNumImpreciseAcc = 1073741824 : i32} : tensor<64x64xf8E4M3FN, #a> * tensor<64x256xf8E4M3FN, #b> -> tensor<64x256xf32, #acc>
    %e = arith.addf %c, %d : tensor<64x256xf32, #acc>
    tt.return %e : tensor<64x256xf32, #acc>
  }
}
