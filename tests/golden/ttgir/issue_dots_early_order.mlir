// issue-dots-early: dots that move up to an earlier one stay in the order in which they were.
// RUN: tessera opt %s --target sm_90a -issue-dots-early | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf32, #mma>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The halves of a block: all four dots are issued before the exponentials.
  // CHECK-LABEL: @halves
  // CHECK: %[[S0:.*]] = ttng.warp_group_dot %arg0, %arg4
  // CHECK-NEXT: %[[S1:.*]] = ttng.warp_group_dot %arg1, %arg4
  // CHECK-NEXT: %[[D0:.*]] = ttng.warp_group_dot %arg2, %arg4
  // CHECK-NEXT: %[[D1:.*]] = ttng.warp_group_dot %arg3, %arg4
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[S0]] {pendings = 3 : i32}
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[S1]] {pendings = 2 : i32}
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[D0]] {pendings = 1 : i32}
  // CHECK: ttng.warp_group_dot_wait %[[D1]] {pendings = 0 : i32}
  tt.func public @halves(%k0: !buffer, %k1: !buffer, %v0: !buffer, %v1: !buffer, %q: !buffer, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %s0 = ttng.warp_group_dot %k0, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %p0 = math.exp2 %s0 : !tile
    %s1 = ttng.warp_group_dot %k1, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %p1 = math.exp2 %s1 : !tile
    %d0 = ttng.warp_group_dot %v0, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %t0 = arith.mulf %p0, %d0 : !tile
    %d1 = ttng.warp_group_dot %v1, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %t1 = arith.mulf %p1, %d1 : !tile
    %sum = arith.addf %t0, %t1 : !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %sum : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // Half by half: the second half's first dot is complete when the first half's second one is, and waited for there.
  // CHECK-LABEL: @half_by_half
  // CHECK: %[[S0:.*]] = ttng.warp_group_dot %arg0, %arg4
  // CHECK-NEXT: %[[S1:.*]] = ttng.warp_group_dot %arg1, %arg4
  // CHECK-NEXT: %[[D0:.*]] = ttng.warp_group_dot %arg2, %arg4
  // CHECK-NEXT: %[[D1:.*]] = ttng.warp_group_dot %arg3, %arg4
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[S0]] {pendings = 3 : i32}
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: %[[S1W:.*]] = ttng.warp_group_dot_wait %[[S1]] {pendings = 2 : i32}
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[D0]] {pendings = 1 : i32}
  // CHECK: math.exp2 %[[S1W]]
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[D1]] {pendings = 0 : i32}
  tt.func public @half_by_half(%k0: !buffer, %k1: !buffer, %v0: !buffer, %v1: !buffer, %q: !buffer, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %s0 = ttng.warp_group_dot %k0, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %s1 = ttng.warp_group_dot %k1, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %d0 = ttng.warp_group_dot %v0, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %d1 = ttng.warp_group_dot %v1, %q, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %p0 = math.exp2 %s0 : !tile
    %t0 = arith.mulf %p0, %d0 : !tile
    %p1 = math.exp2 %s1 : !tile
    %t1 = arith.mulf %p1, %d1 : !tile
    %sum = arith.addf %t0, %t1 : !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %sum : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
