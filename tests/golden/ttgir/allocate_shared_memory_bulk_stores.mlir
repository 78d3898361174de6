// allocate-shared-memory: a buffer that a loop stores by asynchronous bulk copies is free after the wait that follows
// the loop, not inside the loop.
// RUN: tessera opt %s -tritongpu-global-scratch-memory-allocation -allocate-shared-memory --target sm_90a --verify-each | FileCheck %s
// CHECK: ttg.local_alloc {allocation.offset = [[OUT:[0-9]+]] : i32}
// CHECK: scf.for
// CHECK: ttng.async_tma_copy_local_to_global
// CHECK-NOT: ttg.local_alloc %{{.*}}allocation.offset = [[OUT]] :
// CHECK: ttng.async_tma_store_wait
// CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = [[OUT]] : i32}

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @stores(%y: !tt.ptr<f16>, %m: i32, %n: i32, %stride: i64, %k: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %ones = arith.constant dense<1.0> : tensor<64x128xf16, #blocked>
    %q = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %q, %y, [%c64, %c64], [%n, %m], [%stride], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %q : !tt.ptr<i8>
    %dy = ttng.reinterpret_tensor_descriptor %q : !tt.ptr<i8> to !tt.tensordesc<tensor<64x128xf16, #shared>>
    %o = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %k step %c1 : i32 {
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.local_store %ones, %o : tensor<64x128xf16, #blocked> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %dy[%i, %c0] %o : !tt.tensordesc<tensor<64x128xf16, #shared>>, !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    }
    %during = ttg.local_alloc %ones : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %v = ttg.local_load %during : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #blocked>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    %after = ttg.local_alloc %v : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    tt.return
  }
}
