// insert-barriers: buffer accesses (AMD). As for pointers, a barrier orders a store or an atomic after the loads of the
// same elements by other warps.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target gfx942 | FileCheck %s
#small = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // 128 elements, 256 threads: two warps load each element.
  // CHECK-LABEL: @store
  // CHECK: amdg.buffer_load
  // CHECK: gpu.barrier
  // CHECK-NEXT: amdg.buffer_store
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.return
  tt.func public @store(%p: !tt.ptr<i32>, %sums: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #small>
    %1 = amdg.buffer_load %p[%0] : tensor<128xi32, #small>
    amdg.buffer_store %0, %p[%0] : tensor<128xi32, #small>
    %2 = amdg.buffer_atomic_rmw add, acq_rel, gpu, %1, %sums[%0] : tensor<128xi32, #small>
    tt.return
  }

  // CHECK-LABEL: @atomic_rmw
  // CHECK: amdg.buffer_load
  // CHECK: gpu.barrier
  // CHECK-NEXT: amdg.buffer_atomic_rmw
  // CHECK: tt.return
  tt.func public @atomic_rmw(%p: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #small>
    %1 = amdg.buffer_load %p[%0] : tensor<128xi32, #small>
    %2 = amdg.buffer_atomic_rmw add, acq_rel, gpu, %1, %p[%0] : tensor<128xi32, #small>
    tt.return
  }

  // CHECK-LABEL: @atomic_cas
  // CHECK: amdg.buffer_load
  // CHECK: gpu.barrier
  // CHECK-NEXT: amdg.buffer_atomic_cas
  // CHECK: tt.return
  tt.func public @atomic_cas(%p: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #small>
    %1 = amdg.buffer_load %p[%0] : tensor<128xi32, #small>
    %2 = amdg.buffer_atomic_cas acq_rel, gpu, %1, %0, %p[%0] : tensor<128xi32, #small>
    tt.return
  }

  // Through another argument there is nothing to keep apart.
  // CHECK-LABEL: @elsewhere
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.return
  tt.func public @elsewhere(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #small>
    %1 = amdg.buffer_load %p[%0] : tensor<128xi32, #small>
    %2 = amdg.buffer_atomic_rmw add, acq_rel, gpu, %1, %q[%0] : tensor<128xi32, #small>
    tt.return
  }
}
