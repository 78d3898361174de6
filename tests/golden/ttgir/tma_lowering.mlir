// Loads, stores and reductions through descriptors become bulk copies by way of a buffer in the descriptor's layout.
// RUN: tessera opt %s -triton-nvidia-tma-lowering --target sm_90a --verify-each | FileCheck %s
// RUN: tessera compile %s --kernel stores --target sm_90a --emit ptx | FileCheck %s --check-prefix=PTX

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared3 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, rank = 3}>
#shared32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // One buffer serves the value, its conversion and a buffer of the same layout.
  // CHECK-LABEL: @loads
  // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[SHARED:.*]], #smem, mutable>
  // CHECK: %[[M:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64,
  // CHECK: ttng.init_barrier %[[M]], 1
  // CHECK: ttng.barrier_expect %[[M]], 8192, %true
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %[[B]], %[[M]], %true
  // CHECK: ttng.wait_barrier %[[M]], %c0_i32
  // CHECK: ttng.inval_barrier %[[M]]
  // CHECK-DAG: %[[V:.*]] = ttg.local_load %[[B]] : {{.*}} -> tensor<64x64xf16, #blocked>
  // CHECK-DAG: %[[W:.*]] = ttg.local_load %[[B]] : {{.*}} -> tensor<64x64xf16, #blocked1>
  // CHECK-DAG: %[[X:.*]] = ttg.local_load %[[B]] : {{.*}} -> tensor<64x64xf16, #blocked>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func private @loads(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #columns>, %i: i32) {
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %w = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #columns>
    %b = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %x = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    tt.store %p, %v : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %q, %w : tensor<64x64x!tt.ptr<f16>, #columns>
    tt.store %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }

  // A buffer that is read later is waited for where it is read: the copies of a loop that follows need not wait for it.
  // CHECK-LABEL: @waits_at_the_reader
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %[[Q:.*]], %[[M:.*]], %true
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %[[K:.*]], %arg3, %arg4
  // CHECK: ttng.wait_barrier %[[M]], %c0_i32
  // CHECK-NEXT: ttng.inval_barrier %[[M]]
  // CHECK-NEXT: scf.for
  // CHECK: ttg.local_load %[[Q]]
  tt.func private @waits_at_the_reader(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %i: i32, %m: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %any: i1) {
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %b = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %k = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %k, %m, %any : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    scf.for %j = %i to %i step %i : i32 {
      %x = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
      tt.store %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }

  // The copy may still read what this store writes.
  // CHECK-LABEL: @waits_before_a_store
  // CHECK: ttng.wait_barrier
  // CHECK: tt.store
  // CHECK: ttg.local_load
  tt.func private @waits_before_a_store(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %y: tensor<64x64xf16, #blocked>, %i: i32) {
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %b = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.store %p, %y : tensor<64x64x!tt.ptr<f16>, #blocked>
    %x = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    tt.store %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }

  // A value is stored in the layout that it has. A block's leading dimension of size 1 may be lacking.
  // CHECK-LABEL: @stores
  // CHECK-NOT: ttg.convert_layout
  // CHECK: %[[S:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x64xf16, #blocked1>) -> !ttg.memdesc<64x64xf16, #[[SHARED]], #smem>
  // CHECK: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] %[[S]]
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK: %[[R:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x64xf32, #blocked1>)
  // CHECK: ttng.async_tma_reduce add, %{{.*}}[%{{.*}}, %{{.*}}] %[[R]]
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // The unit reads what threads wrote after a fence of its proxy.
  // PTX: fence.proxy.async.shared::cta
  // PTX: bar.sync
  // PTX: cp.async.bulk.tensor.3d.global.shared::cta.bulk_group
  // PTX: cp.async.bulk.commit_group
  // PTX: cp.async.bulk.wait_group.read 0
  // PTX: fence.proxy.async.shared::cta
  // PTX: bar.sync
  // PTX: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add
  tt.func public @stores(%d: !tt.tensordesc<tensor<1x64x64xf16, #shared3>>, %e: !tt.tensordesc<tensor<64x64xf32, #shared32>>, %p: !tt.ptr<f16>, %i: i32) {
    %s = tt.load %p : !tt.ptr<f16>
    %v = tt.splat %s : f16 -> tensor<64x64xf16, #columns>
    %w = ttg.convert_layout %v : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #blocked>
    tt.descriptor_store %d[%i, %i, %i], %w : !tt.tensordesc<tensor<1x64x64xf16, #shared3>>, tensor<64x64xf16, #blocked>
    %x = arith.extf %v : tensor<64x64xf16, #columns> to tensor<64x64xf32, #columns>
    tt.descriptor_reduce add, %e[%i, %i], %x : !tt.tensordesc<tensor<64x64xf32, #shared32>>, tensor<64x64xf32, #columns>
    tt.return
  }
}
