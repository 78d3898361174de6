// allocate-shared-memory --remarks: buffers of partitions name theirs. They run at the same time, so the buffers share
// no bytes.
// RUN: tessera opt %s -tritongpu-allocate-warp-groups -allocate-shared-memory --target sm_90a --remarks=SharedMemoryBuffer 2>&1 >/dev/null | FileCheck %s
// RUN: tessera opt %s -tritongpu-allocate-warp-groups -allocate-shared-memory --target sm_90a --remarks-json=%t >/dev/null && FileCheck %s --check-prefix=JSON < %t
// CHECK-DAG: remark: 'ttg.local_alloc' in the default partition takes 512 bytes of shared memory at offset {{[0-9]+}}, aligned to 16
// CHECK-DAG: remark: 'ttg.local_alloc' in partition 0 takes 512 bytes of shared memory at offset {{[0-9]+}}, aligned to 16
// JSON-DAG: "partition": -1,
// JSON-DAG: "partition": 0,
// JSON-DAG: "warpSpecialize": "{{.*}}.mlir:{{[0-9]+}}:5"
#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%o: !tt.ptr<i32>) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #d>
    ttg.warp_specialize(%o)
    default {
      %m = ttg.local_alloc %r : (tensor<128xi32, #d>) -> !ttg.memdesc<128xi32, #s, #smem, mutable>
      %v = ttg.local_load %m : !ttg.memdesc<128xi32, #s, #smem, mutable> -> tensor<128xi32, #d>
      %ps = tt.splat %o : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #d>
      tt.store %ps, %v : tensor<128x!tt.ptr<i32>, #d>
      ttg.warp_yield
    }
    partition0(%p: !tt.ptr<i32>) num_warps(4) {
      %q = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #d>
      %m = ttg.local_alloc %q : (tensor<128xi32, #d>) -> !ttg.memdesc<128xi32, #s, #smem, mutable>
      %v = ttg.local_load %m : !ttg.memdesc<128xi32, #s, #smem, mutable> -> tensor<128xi32, #d>
      %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #d>
      tt.store %ps, %v : tensor<128x!tt.ptr<i32>, #d>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}
