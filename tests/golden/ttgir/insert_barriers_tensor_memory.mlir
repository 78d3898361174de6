// Dots in tensor memory are issued by one thread: a barrier comes between what all threads did to the operands and the
// accumulator and the dot, with a fence if shared memory was written by ordinary stores. After a wait for its mbarrier,
// which every thread executes, nothing more is needed before the result is read or the operands are written again.
// RUN: tessera opt %s -allocate-shared-memory -allocate-tensor-memory -insert-barriers --target sm_100a | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#sum = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!left = !ttg.memdesc<128x64xf16, #a, #smem, mutable>
!right = !ttg.memdesc<64x64xf16, #a, #smem, mutable>
!acc = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @dots
  // CHECK: ttng.tmem_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.tc_gen5_mma
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.tmem_load
  // CHECK-NEXT: ttg.local_store
  // The load is done before the next dot changes the accumulator.
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.tc_gen5_mma
  // A dot after a dot needs nothing.
  // CHECK-NEXT: ttng.tc_gen5_mma
  // CHECK-NEXT: ttng.tc_gen5_commit
  // CHECK-NEXT: ttng.wait_barrier
  tt.func public @dots(%x: tensor<128x64xf16, #blocked>, %y: tensor<64x64xf16, #blocked>, %out: tensor<128x64x!tt.ptr<f32>, #sum>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #sum>
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !left
    %b = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !right
    %acc = ttng.tmem_alloc : () -> !acc
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    ttng.tmem_store %zero, %acc, %true : tensor<128x64xf32, #sum> -> !acc
    ttng.tc_gen5_mma %a, %b, %acc, %true, %true, %bar[%true] {is_async} : !left, !right, !acc, !bar
    ttng.wait_barrier %bar, %c0 : !bar
    %r = ttng.tmem_load %acc : !acc -> tensor<128x64xf32, #sum>
    ttg.local_store %x, %a : tensor<128x64xf16, #blocked> -> !left
    ttng.tc_gen5_mma %a, %b, %acc, %true, %true {is_async} : !left, !right, !acc
    ttng.tc_gen5_mma %a, %b, %acc, %true, %true {is_async} : !left, !right, !acc
    ttng.tc_gen5_commit %bar : !bar
    ttng.wait_barrier %bar, %c1 : !bar
    tt.store %out, %r : tensor<128x64x!tt.ptr<f32>, #sum>
    tt.return
  }
  // Arrivals tell other partitions that the buffers are free: all warps have read theirs, and have waited, before. Of
  // arrivals after each other only the first needs a barrier.
  // CHECK-LABEL: @arrivals
  // CHECK: partition0
  // CHECK: ttng.wait_barrier
  // CHECK-NEXT: ttng.tmem_load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.tc_gen5_commit
  // CHECK-NEXT: ttng.tc_gen5_commit
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.tc_gen5_mma
  // CHECK-NEXT: ttng.tc_gen5_commit
  // CHECK: ttg.warp_return
  // CHECK: partition1
  // CHECK-NOT: gpu.barrier
  // CHECK: ttg.warp_return
  tt.func public @arrivals() {
    %a = ttg.local_alloc : () -> !left
    %b = ttg.local_alloc : () -> !right
    %acc = ttng.tmem_alloc : () -> !acc
    %full = ttg.local_alloc : () -> !bar
    %empty = ttg.local_alloc : () -> !bar
    ttng.init_barrier %full, 1 : !bar
    ttng.init_barrier %empty, 1 : !bar
    ttg.warp_specialize(%a, %b, %acc, %full, %empty) attributes {requestedRegisters = array<i32: 64, 64>}
    default {
      ttg.warp_yield
    }
    partition0(%pa: !left, %pb: !right, %pacc: !acc, %pfull: !bar, %pempty: !bar) num_warps(4) {
      %true = arith.constant true
      %c0 = arith.constant 0 : i32
      ttng.wait_barrier %pfull, %c0 : !bar
      %r = ttng.tmem_load %pacc : !acc -> tensor<128x64xf32, #sum>
      ttng.tc_gen5_commit %pempty : !bar
      ttng.tc_gen5_commit %pempty : !bar
      %y = ttg.local_load %pb : !right -> tensor<64x64xf16, #blocked>
      ttng.tc_gen5_mma %pa, %pb, %pacc, %true, %true, %pempty[%true] {is_async} : !left, !right, !acc, !bar
      ttng.tc_gen5_commit %pempty : !bar
      ttg.warp_return
    }
    partition1(%pa: !left, %pb: !right, %pacc: !acc, %pfull: !bar, %pempty: !bar) num_warps(4) {
      %true = arith.constant true
      ttng.tc_gen5_mma %pa, %pb, %pacc, %true, %true, %pempty[%true] {is_async} : !left, !right, !acc, !bar
      ttng.tc_gen5_commit %pempty : !bar
      ttg.warp_return
    } : (!left, !right, !acc, !bar, !bar) -> ()
    tt.return
  }
}
