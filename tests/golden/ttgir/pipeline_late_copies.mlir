// tritongpu-pipeline on attention with heads of 128: another block on a multiprocessor is worth more than another stage.
// V, whose dot needs the softmax, is copied at the start of its own iteration into a single buffer, so that three blocks
// fit; then there is no memory for a third stage of K. The wait before V's dot leaves K's next copy in flight.
// RUN: tessera compile %S/../../kernels/attn_late_values/attn_late_values.ttir --target sm_90a --num-warps 4 --num-stages 2 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/attn_late_values/attn_late_values.ttir --target sm_90a --num-warps 4 --num-stages 4 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/attn_late_values/attn_late_values.ttir --target sm_90a --num-warps 4 --num-stages 4 --emit ttgir -o - --remarks 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %S/../../kernels/attn_late_values/attn_late_values.ttir --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir -o - | FileCheck %s --check-prefix=NO-WGMMA
//
// CHECK: %[[K:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x128xf16
// CHECK: %[[V:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x128xf16
// CHECK: ttg.async_copy_global_to_local
// CHECK: %[[BUFFER:.*]] = ttg.memdesc_index %[[V]]
// CHECK: scf.for
// CHECK-NEXT: ttg.async_wait {num = 0 : i32}
// CHECK: ttg.async_copy_global_to_local {{.*}}, %[[BUFFER]] mask
// CHECK-NEXT: ttg.async_commit_group
// CHECK: %[[NEXT:.*]] = ttg.memdesc_index %[[K]]
// CHECK: ttg.async_copy_global_to_local {{.*}}, %[[NEXT]] mask
// CHECK-NEXT: ttg.async_commit_group
// CHECK: ttng.warp_group_dot
// CHECK: math.exp2
// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK: ttng.warp_group_dot {{.*}}, %[[BUFFER]],
// CHECK: scf.yield
//
// REMARK: 2 stages take 49152 bytes of shared memory; 1 of them is copied at the start of the iteration instead
// REMARK-SAME: 4 stages were requested: with fewer, 3 blocks fit on a multiprocessor
//
// NO-WGMMA-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<3x64x128xf16
