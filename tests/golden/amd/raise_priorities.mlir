// raise-priorities: where two blocks share a compute unit and a loop keeps LDS busier than the matrix units, a wave
// raises its priority half way to the barrier, and behind the loop it is 0 again. Not by blocks of four waves, not on
// gfx942, and not where one block takes a compute unit's registers.
// RUN: tessera compile %S/../../kernels/mm_mixed/mm_mixed.ttir --target gfx950 --num-warps 8 --num-stages 2 --emit amdgcn -o - --remarks=PrioritiesRaised 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t
// RUN: tessera compile %S/../../kernels/mm_mixed/mm_mixed.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck --check-prefix=NONE %s
// RUN: tessera compile %S/../../kernels/mm_mixed/mm_mixed.ttir --target gfx942 --num-warps 8 --num-stages 2 --emit amdgcn -o - | FileCheck --check-prefix=NONE %s
// RUN: tessera compile %S/order_matrices.mlir --target gfx950 --num-warps 8 --num-stages 2 --emit amdgcn -o - --remarks=WarpCopies 2>%t.copies | FileCheck --check-prefix=NONE %s
// RUN: FileCheck --check-prefix=COPIES %s < %t.copies
// CHECK: s_barrier
// CHECK-NEXT: s_setprio 0
// CHECK-COUNT-2: v_mfma
// CHECK-NOT: v_mfma
// CHECK: s_setprio 1
// CHECK-COUNT-2: v_mfma
// CHECK: s_barrier
// CHECK-NEXT: s_setprio 0
// CHECK: s_setprio 1
// CHECK: s_cbranch_scc1
// CHECK: s_setprio 0
// CHECK-NOT: s_setprio
// REMARK: remark: waves of 'mm_mixed' raise their priority {{.*}} the 2 blocks on a compute unit {{.*}} [codegen:PrioritiesRaised]
// COPIES: remark: loads of the loop do not go straight into LDS: three buffers of 32768 bytes leave room for 1 block on a compute unit, where registers and two buffers leave it for 2 [warp-copy-layouts:WarpCopies]
// NONE-NOT: s_setprio
