// Bulk tensor copies (TMA): global scratch for their descriptors, block barriers around what one thread does for all,
// proxy fences between ordinary writes and a copy's reads, and buffers that live until the copy has read them.
// RUN: tessera opt %s -tritongpu-global-scratch-memory-allocation -allocate-shared-memory -insert-barriers --target sm_90a --verify-each | FileCheck %s
// RUN: tessera compile %s --kernel copies --target sm_90a --emit ptx | FileCheck %s --check-prefix=PTX

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// Two descriptions of the kernel itself, then those of what it calls.
// CHECK: module attributes {{.*}}ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 384 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @copies
  // CHECK: ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 0 : i32
  // CHECK: ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 128 : i32
  // The write of the buffer comes before the copy into it, by the other proxy as well.
  // CHECK: ttg.local_store
  // CHECK: ttng.init_barrier
  // CHECK: gpu.barrier
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // Every reader waits by itself.
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.inval_barrier
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = [[OUT:[0-9]+]] : i32}
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // What is written next lies elsewhere: the buffer is still read.
  // CHECK-NOT: allocation.offset = [[OUT]] :
  // CHECK: ttng.async_tma_store_wait
  // CHECK: tt.call @callee{{.*}}ttg.global_scratch_memory_offset = 256 : i32
  // PTX: .version 8.5
  // PTX: mul.wide.u32 {{.*}}, 384;
  // PTX: elect.sync
  // PTX: tensormap.replace.tile.global_address.shared::cta.b1024.b64
  // PTX: tensormap.replace.tile.rank.shared::cta.b1024.b32 [{{.*}}], 1;
  // PTX: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
  // PTX: fence.proxy.tensormap::generic.acquire.gpu
  // PTX: mbarrier.init.shared::cta.b64
  // PTX: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 16384;
  // Two boxes of 64 columns.
  // PTX-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
  // PTX: mbarrier.try_wait.parity.shared::cta.b64
  // PTX-COUNT-2: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
  // PTX: cp.async.bulk.commit_group;
  // PTX: cp.async.bulk.wait_group.read 0;
  tt.func public @copies(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %m: i32, %n: i32, %stride: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %ones = arith.constant dense<1.0> : tensor<64x128xf16, #blocked>
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %p, %x, [%c64, %c64], [%n, %m], [%stride], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    %dx = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<64x128xf16, #shared>>
    %q = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %q, %y, [%c64, %c64], [%n, %m], [%stride], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %q : !tt.ptr<i8>
    %dy = ttng.reinterpret_tensor_descriptor %q : !tt.ptr<i8> to !tt.tensordesc<tensor<64x128xf16, #shared>>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    ttg.local_store %ones, %b : tensor<64x128xf16, #blocked> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.barrier_expect %bar, 16384, %true : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.async_tma_copy_global_to_local %dx[%c0, %c0] %b, %bar, %true : !tt.tensordesc<tensor<64x128xf16, #shared>>, !ttg.memdesc<1xi64, #plain, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    %v = ttg.local_load %b : !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf16, #blocked>
    ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    %w = arith.addf %v, %v : tensor<64x128xf16, #blocked>
    %o = ttg.local_alloc %w : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %dy[%c0, %c0] %o : !tt.tensordesc<tensor<64x128xf16, #shared>>, !ttg.memdesc<64x128xf16, #shared, #smem>
    %next = ttg.local_alloc %ones : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    tt.call @callee() : () -> ()
    tt.return
  }
  tt.func private @callee() attributes {noinline = true} {
    // CHECK: ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 0 : i32
    %p = ttg.global_scratch_alloc {alignment = 64 : i32, nbytes = 64 : i32} : !tt.ptr<i8>
    tt.return
  }
}
