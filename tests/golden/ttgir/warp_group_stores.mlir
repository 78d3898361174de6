// tritongpu-warp-group-stores: in a loop of the default region, each warp group stores its own rows of a tile, where all
// that reaches the buffer and the descriptor does. insert-barriers then needs barriers of each warp group alone.
// RUN: tessera opt %s --target sm_90a -tritongpu-warp-group-stores -allocate-shared-memory -insert-barriers --verify-each | FileCheck %s
// RUN: tessera opt %s --target sm_90a -tritongpu-warp-group-stores --verify-each | FileCheck %s --check-prefix=MARK

#rows = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#columns = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 32, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = tensor<128x64xf16, #rows>
!buffer = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!mbar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A barrier of the group before its rows are written again, and one, with a fence, before they are copied.
  // CHECK-LABEL: @rows
  // CHECK: default
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: gpu.barrier {tessera.warp_group}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[B:.*]] {tessera.warp_group_rows = 64 : i32}
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: gpu.barrier {tessera.warp_group}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[B]] {tessera.warp_group_rows = 64 : i32}
  // CHECK-NOT: gpu.barrier
  // CHECK: ttng.async_tma_store_wait
  tt.func public @rows(%d: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %v = arith.constant dense<1.0> : !tile
    ttg.warp_specialize(%n) attributes {requestedRegisters = array<i32: 24>}
    default {
      %b = ttg.local_alloc : () -> !buffer
      scf.for %i = %c0 to %n step %c128 : i32 {
        ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
        ttg.local_store %v, %b : !tile -> !buffer
        ttng.async_tma_copy_local_to_global %d[%i, %c0] %b : !desc, !buffer
      }
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.local_dealloc %b : !buffer
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
  // Another buffer in the same bytes is not of the groups: the block waits before either is written.
  // CHECK-LABEL: @same_bytes
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier{{ *$}}
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32, tessera.warp_group_rows = 64 : i32}
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: gpu.barrier {tessera.warp_group}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait
  // CHECK-NEXT: gpu.barrier{{ *$}}
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: gpu.barrier {tessera.local}
  // CHECK-NEXT: ttg.local_load
  tt.func public @same_bytes(%d: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %v = arith.constant dense<1.0> : !tile
    ttg.warp_specialize(%n)
    default {
      %last = scf.for %i = %c0 to %n step %c128 iter_args(%x = %v) -> (!tile) : i32 {
        %b = ttg.local_alloc %x : (!tile) -> !buffer
        ttng.async_tma_copy_local_to_global %d[%i, %c0] %b : !desc, !buffer
        ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
        %o = ttg.local_alloc %x : (!tile) -> !buffer
        %y = ttg.local_load %o : !buffer -> !tile
        scf.yield %y : !tile
      }
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
  // One buffer, two descriptors: the partition copies whole boxes through the second one, so its stores are the block's,
  // and so are all that share their buffer.
  // MARK-LABEL: @another_descriptor
  // MARK-NOT: tessera.warp_group_rows
  // MARK-LABEL: @columns
  tt.func public @another_descriptor(%d: !desc, %e: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %v = arith.constant dense<1.0> : !tile
    %in = ttg.local_alloc : () -> !buffer
    %full = ttg.local_alloc : () -> !mbar
    ttng.init_barrier %full, 1 : !mbar
    ttg.warp_specialize(%e, %in, %full)
    default {
      %b = ttg.local_alloc : () -> !buffer
      scf.for %i = %c0 to %n step %c128 : i32 {
        ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
        ttg.local_store %v, %b : !tile -> !buffer
        ttng.async_tma_copy_local_to_global %d[%i, %c0] %b : !desc, !buffer
        ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
        ttg.local_store %v, %b : !tile -> !buffer
        ttng.async_tma_copy_local_to_global %e[%i, %c0] %b : !desc, !buffer
      }
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.warp_yield
    }
    partition0(%f: !desc, %to: !buffer, %m: !mbar) num_warps(1) {
      %z = arith.constant 0 : i32
      %true = arith.constant true
      ttng.barrier_expect %m, 16384, %true : !mbar
      ttng.async_tma_copy_global_to_local %f[%z, %z] %to, %m, %true : !desc, !mbar -> !buffer
      ttng.wait_barrier %m, %z : !mbar
      ttg.warp_return
    } : (!desc, !buffer, !mbar) -> ()
    tt.return
  }
  // A warp group has half of each row.
  // MARK-NOT: tessera.warp_group_rows
  tt.func public @columns(%d: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %v = arith.constant dense<1.0> : tensor<128x64xf16, #columns>
    ttg.warp_specialize(%n)
    default {
      scf.for %i = %c0 to %n step %c128 : i32 {
        %b = ttg.local_alloc %v : (tensor<128x64xf16, #columns>) -> !buffer
        ttng.async_tma_copy_local_to_global %d[%i, %c0] %b : !desc, !buffer
        ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      }
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
