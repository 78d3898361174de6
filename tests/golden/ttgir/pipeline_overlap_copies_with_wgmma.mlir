// tritongpu-pipeline on attention: the copies for the iteration after next are issued while the second dot is in
// flight, into the buffers that the previous iteration released, which takes no extra barrier. With two stages they
// are issued at once.
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target sm_90a --num-warps 4 --num-stages 2 --emit ttgir -o - | FileCheck %s --check-prefix=TWO
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
// CHECK: scf.for
// CHECK-NEXT: ttg.async_wait {num = 1 : i32}
// CHECK-NOT: async_copy
// CHECK: ttng.warp_group_dot
// CHECK-NOT: async_copy
// CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
// CHECK-COUNT-2: ttg.async_copy_global_to_local
// CHECK: ttg.async_commit_group
// CHECK: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 0 : i32}
// CHECK: scf.yield {{.*}}%[[W]]
//
// TWO: scf.for
// TWO-COUNT-2: ttg.async_copy_global_to_local
// TWO: ttng.warp_group_dot
// TWO-NOT: isAsync
//
// PTX: cp.async.wait_group 1;
// PTX: bar.sync
// PTX: wgmma.mma_async
// PTX-NOT: bar.sync
// PTX: cp.async.wait_group 0;
