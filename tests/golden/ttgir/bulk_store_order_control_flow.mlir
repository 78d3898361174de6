// Bulk stores in loops, branches and partitions: an operation that relies on one waits until it has arrived.
// RUN: tessera opt %s -triton-nvidia-tma-lowering --target sm_90a --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!desc = !tt.tensordesc<tensor<32x32xf32, #shared>>
!tile = tensor<32x32xf32, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // In a loop: the same block again, and another one in each iteration.
  // CHECK-LABEL: @loop
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK: scf.for
  // CHECK-NOT: pendings = 0 : i32}
  // CHECK: tt.return
  tt.func public @loop(%d: !desc, %e: !desc, %i: i32, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = arith.constant dense<1.0> : !tile
    scf.for %k = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    }
    scf.for %k = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %e[%k, %i], %v : !desc, !tile
    }
    tt.return
  }
  // Reductions commute. A branch that stores is a path.
  // CHECK-LABEL: @branch
  // CHECK: scf.if
  // CHECK-COUNT-2: ttng.async_tma_reduce
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tt.atomic_rmw
  tt.func public @branch(%d: !desc, %lock: !tt.ptr<i32>, %i: i32, %one: i32, %true: i1) {
    %v = arith.constant dense<1.0> : !tile
    scf.if %true {
      tt.descriptor_reduce add, %d[%i, %i], %v : !desc, !tile
      tt.descriptor_reduce add, %d[%i, %i], %v : !desc, !tile
    }
    %old = tt.atomic_rmw add, release, gpu, %lock, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
  // Indices outside of an empty tensor store nothing.
  // CHECK-LABEL: @empty
  // CHECK-COUNT-2: ttng.async_tma_copy_local_to_global
  // CHECK-NOT: pendings = 0 : i32}
  // CHECK: tt.return
  tt.func public @empty(%d: !desc, %i: i32, %is_empty: i1) {
    %c32 = arith.constant 32 : i32
    %outside = arith.constant 1073741824 : i32
    %v = arith.constant dense<1.0> : !tile
    %j = arith.addi %i, %c32 : i32
    %i1 = arith.select %is_empty, %outside, %i : i32
    %j1 = arith.select %is_empty, %outside, %j : i32
    tt.descriptor_store %d[%i1, %i1], %v : !desc, !tile
    tt.descriptor_store %d[%i1, %j1], %v : !desc, !tile
    tt.return
  }
  // What another partition loads is stored before it begins. The default region's stores are ordered like all others.
  // CHECK-LABEL: @partitions
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.warp_specialize(
  // CHECK: default
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK: ttg.warp_yield
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tt.atomic_rmw
  tt.func public @partitions(%d: !desc, %lock: !tt.ptr<i32>, %p: !tt.ptr<f32>, %i: i32, %one: i32, %true: i1) {
    %v = arith.constant dense<1.0> : !tile
    tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    ttg.warp_specialize(%d, %p, %i)
    default {
      tt.descriptor_store %d[%i, %i], %v : !desc, !tile
      ttg.warp_yield
    }
    partition0(%e: !desc, %q: !tt.ptr<f32>, %j: i32) num_warps(4) {
      %x = tt.descriptor_load %e[%j, %j] : !desc -> !tile
      %s = tt.splat %q : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #blocked>
      tt.store %s, %x : tensor<32x32x!tt.ptr<f32>, #blocked>
      ttg.warp_return
    } : (!desc, !tt.ptr<f32>, i32) -> ()
    %old = tt.atomic_rmw add, acq_rel, gpu, %lock, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
