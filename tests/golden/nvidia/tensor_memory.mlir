// Tensor memory and a dot in it: allocation by one warp, one thread's instructions, and both fences at each access. The
// numbers are descriptors (PTX ISA, "Instruction Descriptor", "Shared Memory Descriptor"): f32 = 1 at bit 4, bf16 = 1 at
// bits 7 and 10, B across K at bit 16, N / 8 = 8 at bit 17, M / 16 = 8 at bit 24; 1 at bit 46, swizzle of 128 bytes = 2
// at bit 61, 8 rows of 128 bytes = 64 at bit 32. B's second step is 16 rows of 128 bytes further on.
// RUN: tessera compile %s --target sm_100a --emit ptx -o - | FileCheck %s
// CHECK: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%{{.*}}], 64;
// CHECK-NEXT: tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// CHECK: bar.sync
// CHECK: ld.shared.b32 %[[BASE:r[0-9]+]], [global_smem];
// CHECK: tcgen05.fence::after_thread_sync;
// CHECK-NEXT: tcgen05.st.sync.aligned.32x32b.x64.b32 [%{{.*}}], {
// CHECK-NEXT: tcgen05.wait::st.sync.aligned;
// CHECK-NEXT: tcgen05.fence::before_thread_sync;
// CHECK: bar.sync
// CHECK-DAG: or.b64 %[[A:rd[0-9]+]], %{{.*}}, 4611756662049472512;
// CHECK-DAG: or.b64 %[[B:rd[0-9]+]], %{{.*}}, 4611756662049472512;
// CHECK-DAG: mov.b32 %[[I:r[0-9]+]], 135333008;
// CHECK: tcgen05.fence::after_thread_sync;
// CHECK-NEXT: @%[[P:p[0-9]+]] tcgen05.mma.cta_group::1.kind::f16 [%[[BASE]]], %{{rd[0-9]+}}, %{{rd[0-9]+}}, %[[I]], %{{p[0-9]+}};
// CHECK-NEXT: @%[[P]] tcgen05.mma.cta_group::1.kind::f16 [%[[BASE]]], %{{rd[0-9]+}}, %{{rd[0-9]+}}, %[[I]], %{{p[0-9]+}};
// CHECK-NEXT: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// CHECK: mbarrier.try_wait.parity
// CHECK: tcgen05.fence::after_thread_sync;
// CHECK-NEXT: tcgen05.ld.sync.aligned.32x32b.x64.b32 {
// CHECK-NEXT: tcgen05.wait::ld.sync.aligned;
// CHECK-NEXT: tcgen05.fence::before_thread_sync;
// CHECK: bar.sync
// CHECK: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %[[BASE]], 64;
#sum = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!left = !ttg.memdesc<128x64xbf16, #a, #smem, mutable>
!part = !ttg.memdesc<128x32xbf16, #a, #smem, mutable, 128x64>
!right = !ttg.memdesc<32x64xbf16, #a, #smem, mutable>
!acc = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @dot(%out: !tt.ptr<f32>, %add: i1) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #sum>
    %whole = ttg.local_alloc : () -> !left
    %a = ttg.memdesc_subslice %whole[0, 0] : !left -> !part
    %b = ttg.local_alloc : () -> !right
    %acc = ttng.tmem_alloc : () -> !acc
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    ttng.tmem_store %zero, %acc, %true : tensor<128x64xf32, #sum> -> !acc
    ttng.tc_gen5_mma %a, %b, %acc, %add, %true, %bar[%true] {is_async} : !part, !right, !acc, !bar
    ttng.wait_barrier %bar, %c0 : !bar
    %r = ttng.tmem_load %acc : !acc -> tensor<128x64xf32, #sum>
    %p = tt.splat %out : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>, #sum>
    tt.store %p, %r : tensor<128x64x!tt.ptr<f32>, #sum>
    tt.return
  }
}
