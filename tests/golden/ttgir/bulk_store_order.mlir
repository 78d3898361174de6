// Where an operation relies on what a bulk store wrote, the store is waited for until it has arrived, not only until
// its buffer was read.
// RUN: tessera opt %s -triton-nvidia-tma-lowering --target sm_90a --verify-each | FileCheck %s
// RUN: tessera compile %s --kernel releases --target sm_90a --emit ptx | FileCheck %s --check-prefix=PTX

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!desc = !tt.tensordesc<tensor<32x32xf32, #shared>>
!tile = tensor<32x32xf32, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // An atomic that releases signals to other blocks that the tile is stored.
  // CHECK-LABEL: @releases
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tt.atomic_rmw add, acq_rel
  // PTX: cp.async.bulk.wait_group.read 0;
  // PTX: cp.async.bulk.wait_group 0;
  // PTX: bar.sync
  // PTX: atom.acq_rel.gpu.global.add
  tt.func public @releases(%d: !desc, %lock: !tt.ptr<i32>, %i: i32, %one: i32, %true: i1) {
    %v = arith.constant dense<1.0> : !tile
    tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    %old = tt.atomic_rmw add, acq_rel, gpu, %lock, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
  // CHECK-LABEL: @relaxed
  // CHECK-NOT: pendings = 0 : i32}
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.return
  tt.func public @relaxed(%d: !desc, %count: !tt.ptr<i32>, %i: i32, %one: i32, %true: i1) {
    %v = arith.constant dense<1.0> : !tile
    tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    %old = tt.atomic_rmw add, relaxed, gpu, %count, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
  // The program's own barrier is the one for the other threads.
  // CHECK-LABEL: @barrier
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tt.load
  tt.func public @barrier(%d: !desc, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %i: i32) {
    %v = arith.constant dense<1.0> : !tile
    tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    gpu.barrier
    %x = tt.load %p : !tt.ptr<f32>
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
  // A load through the same descriptor, but not one through another argument.
  // CHECK-LABEL: @loads
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NOT: pendings = 0 : i32}
  // CHECK: ttng.async_tma_copy_global_to_local %arg1
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local %arg0
  tt.func public @loads(%d: !desc, %e: !desc, %o: !desc, %i: i32) {
    %v = arith.constant dense<1.0> : !tile
    tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    %x = tt.descriptor_load %e[%i, %i] : !desc -> !tile
    %y = tt.descriptor_load %d[%i, %i] : !desc -> !tile
    %z = arith.addf %x, %y : !tile
    tt.descriptor_store %o[%i, %i], %z : !desc, !tile
    tt.return
  }
  // Bulk stores are not ordered among each other: only those of different blocks need no wait.
  // CHECK-LABEL: @stores
  // CHECK-COUNT-2: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK-NOT: pendings = 0 : i32}
  // CHECK: tt.return
  tt.func public @stores(%d: !desc, %i: i32) {
    %c32 = arith.constant 32 : i32
    %c16 = arith.constant 16 : i32
    %v = arith.constant dense<1.0> : !tile
    %w = arith.constant dense<2.0> : !tile
    %j = arith.addi %i, %c32 : i32
    %k = arith.addi %i, %c16 : i32
    tt.descriptor_store %d[%i, %i], %v : !desc, !tile
    tt.descriptor_store %d[%i, %j], %w : !desc, !tile
    tt.descriptor_store %d[%i, %k], %w : !desc, !tile
    tt.return
  }
}
