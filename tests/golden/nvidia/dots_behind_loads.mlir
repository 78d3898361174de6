// Two dots in flight behind a read of statistics: the second one is issued behind a store of what was read, which is
// never executed. Not if the statistics are used before the second dot is issued.
// RUN: tessera compile %s --kernel two_dots --target sm_90a --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --kernel used_before --target sm_90a --emit llir -o - | FileCheck %s --check-prefix=USED
// CHECK-LABEL: define {{.*}}@two_dots
// CHECK: %[[Z:.*]] = call i32 asm "shr.u32 $0, $1, 1;", "=r,r"
// CHECK: %[[M:.*]] = load <2 x float>, ptr addrspace(3) %[[A:.*]], align 8
// CHECK: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK: %[[BITS:.*]] = bitcast float %{{.*}} to i32
// CHECK: call void asm sideeffect "{.reg .pred p;\0Asetp.ne.u32 p, $0, 0;\0A@p st.shared.b32 [$1], $2;}", "r,r,r,~{memory}"(i32 %[[Z]], i32 %{{.*}}, i32 %[[BITS]])
// CHECK: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 1
// USED-LABEL: define {{.*}}@used_before
// USED-NOT: st.shared
// USED: wgmma.wait_group.sync.aligned 1
// USED-NOT: st.shared
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#stats = #ttg.slice<{dim = 0, parent = #mma}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = tensor<128x32xf32, #mma>
!a = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!b = !ttg.memdesc<64x32xf16, #sharedT, #smem, mutable>
!m = !ttg.memdesc<32xf32, #row, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_dots(%n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = ttg.local_alloc : () -> !a
    %v = ttg.local_alloc : () -> !a
    %q = ttg.local_alloc : () -> !b
    %stats = ttg.local_alloc : () -> !m
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile) : i32 {
      %m = ttg.local_load %stats : !m -> tensor<32xf32, #stats>
      %s = ttng.warp_group_dot %k, %q, %zero {inputPrecision = 0 : i32, isAsync = true} : !a * !b -> !tile
      %d = ttng.warp_group_dot %v, %q, %zero {inputPrecision = 0 : i32, isAsync = true} : !a * !b -> !tile
      %s1 = ttng.warp_group_dot_wait %s {pendings = 1 : i32} : !tile
      %m1 = tt.expand_dims %m {axis = 0 : i32} : tensor<32xf32, #stats> -> tensor<1x32xf32, #mma>
      %mb = tt.broadcast %m1 : tensor<1x32xf32, #mma> -> !tile
      %e = arith.subf %s1, %mb : !tile
      %p = math.exp2 %e : !tile
      %d1 = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : !tile
      %f = arith.mulf %p, %d1 : !tile
      %next = arith.addf %sum, %f : !tile
      scf.yield %next : !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x32x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<128x32x!tt.ptr<f32>, #mma>
    tt.return
  }
  tt.func public @used_before(%n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = ttg.local_alloc : () -> !a
    %v = ttg.local_alloc : () -> !a
    %q = ttg.local_alloc : () -> !b
    %stats = ttg.local_alloc : () -> !m
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile) : i32 {
      %m = ttg.local_load %stats : !m -> tensor<32xf32, #stats>
      %m1 = tt.expand_dims %m {axis = 0 : i32} : tensor<32xf32, #stats> -> tensor<1x32xf32, #mma>
      %mb = tt.broadcast %m1 : tensor<1x32xf32, #mma> -> !tile
      %s = ttng.warp_group_dot %k, %q, %zero {inputPrecision = 0 : i32, isAsync = true} : !a * !b -> !tile
      %d = ttng.warp_group_dot %v, %q, %mb {inputPrecision = 0 : i32, isAsync = true} : !a * !b -> !tile
      %s1 = ttng.warp_group_dot_wait %s {pendings = 1 : i32} : !tile
      %p = math.exp2 %s1 : !tile
      %d1 = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : !tile
      %f = arith.mulf %p, %d1 : !tile
      %next = arith.addf %sum, %f : !tile
      scf.yield %next : !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x32x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<128x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
