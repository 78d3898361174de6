// A descriptor that the kernel makes becomes a tensor map in scratch memory. One that is made in a loop is written where
// the last iteration's was: stores through it are waited for before.
// RUN: tessera opt %s -triton-nvidia-tma-lowering --target sm_90a --verify-each | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s --check-prefix=PTX

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @k
  // CHECK-DAG: %[[IN:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
  // CHECK-DAG: %[[OUT:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
  // CHECK: %[[COLUMNS:.*]] = arith.maxsi %arg3, %{{.*}} : i32
  // CHECK: %[[ROWS:.*]] = arith.maxsi %arg2, %{{.*}} : i32
  // CHECK: %[[BYTES:.*]] = arith.muli %arg4, %c2_i64
  // CHECK-NOT: ttng.async_tma_store_wait
  // CHECK: ttng.tensormap_create %[[A:.*]], %arg0, [%c64_i32{{.*}}, %c64_i32{{.*}}], [%[[COLUMNS]], %[[ROWS]]], [%[[BYTES]]], [%{{.*}}] {elem_type = 6 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %[[A]]
  // CHECK-NEXT: ttng.reinterpret_tensor_descriptor %[[A]]
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK: ttng.tensormap_create %[[C:.*]], %arg1, {{.*}}fill_mode = 0
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %[[C]]
  // CHECK: ttng.async_tma_copy_local_to_global
  // PTX: tensormap.replace.tile.global_address
  // PTX: tensormap.cp_fenceproxy
  // PTX: fence.proxy.tensormap::generic.acquire.gpu
  // PTX: cp.async.bulk.wait_group.read 0
  // PTX: tensormap.cp_fenceproxy
  // PTX: fence.proxy.tensormap::generic.acquire.gpu
  // PTX: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
  tt.func public @k(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %m: i32, %n: i32, %stride: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%stride, %one] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16, #shared>>
    scf.for %i = %c0 to %n step %c1  : i32 {
      %size = arith.addi %i, %c1 : i32
      %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %e = tt.make_tensor_descriptor %y, [%size, %size], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16, #shared>>
      tt.descriptor_store %e[%i, %c0], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    }
    tt.return
  }
}
