// issue-loads-early on gfx950, whose copies to LDS and loads come back in the order of their issue: a load of this
// iteration moves up to before copies for a later one, with its address; not across a barrier or a store. Other targets
// wait for loads by themselves.
// RUN: tessera opt %s -issue-loads-early --target gfx950 | FileCheck %s
// RUN: tessera opt %s -issue-loads-early | FileCheck %s --check-prefix=OTHERS
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @copy_before
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: tt.addptr
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.async_commit_group
  // OTHERS-LABEL: @copy_before
  // OTHERS: ttg.async_copy_global_to_local
  // OTHERS: tt.load
  tt.func public @copy_before(%p: tensor<256x!tt.ptr<f32>, #blocked>, %q: tensor<256x!tt.ptr<f32>, #blocked>, %i: tensor<256xi32, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
    %c = ttg.async_copy_global_to_local %p, %m : tensor<256x!tt.ptr<f32>, #blocked> -> <256xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %c
    %r = tt.addptr %q, %i : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %b = tt.load %r : tensor<256x!tt.ptr<f32>, #blocked>
    tt.store %p, %b : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @barrier_between
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: gpu.barrier
  // CHECK-NEXT: tt.load
  tt.func public @barrier_between(%p: tensor<256x!tt.ptr<f32>, #blocked>, %q: tensor<256x!tt.ptr<f32>, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
    %c = ttg.async_copy_global_to_local %p, %m : tensor<256x!tt.ptr<f32>, #blocked> -> <256xf32, #shared, #smem, mutable>
    gpu.barrier
    %b = tt.load %q : tensor<256x!tt.ptr<f32>, #blocked>
    tt.store %p, %b : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @store_between
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: tt.store
  // CHECK-NEXT: tt.load
  tt.func public @store_between(%p: tensor<256x!tt.ptr<f32>, #blocked>, %q: tensor<256x!tt.ptr<f32>, #blocked>, %v: tensor<256xf32, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
    %c = ttg.async_copy_global_to_local %p, %m : tensor<256x!tt.ptr<f32>, #blocked> -> <256xf32, #shared, #smem, mutable>
    tt.store %q, %v : tensor<256x!tt.ptr<f32>, #blocked>
    %b = tt.load %q : tensor<256x!tt.ptr<f32>, #blocked>
    tt.store %p, %b : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
