// alternate-waves: a loop of eight waves that reads one buffer of LDS is cut into parts of memory and of MFMA, which the
// second half of the waves executes one barrier later. Not with four waves, nor where values are computed between dots
// (attention), nor with few MFMA for an iteration.
// RUN: tessera compile %S/../../kernels/mm_eight_warps/mm_eight_warps.ttir --target gfx942 --num-warps 8 --num-stages 2 --emit amdgcn -o - --remarks=WavesAlternate 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t
// RUN: tessera compile %S/../../kernels/mm_eight_warps/mm_eight_warps.ttir --target gfx942 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck --check-prefix=NONE %s
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx942 --num-warps 8 --num-stages 2 --emit amdgcn -o - | FileCheck --check-prefix=NONE %s
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --num-warps 8 --num-stages 2 --emit amdgcn -o - | FileCheck --check-prefix=NONE %s
//
// What was written before the loop is there; then the second half waits once more.
// CHECK: ds_write
// CHECK: s_waitcnt lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK-NEXT: s_cbranch
// CHECK-NEXT: s_barrier
//
// The first half of the tile, loads of the next one, a third of the MFMA …
// CHECK: ds_read
// CHECK: buffer_load
// CHECK-NOT: v_mfma
// CHECK: s_waitcnt lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK: s_setprio 1
// CHECK-COUNT-10: v_mfma
// CHECK: s_setprio 0
// CHECK: s_barrier
// … the second half …
// CHECK: ds_read
// CHECK-NOT: v_mfma
// CHECK: s_waitcnt lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK: s_setprio 1
// CHECK-COUNT-11: v_mfma
// CHECK: s_setprio 0
// CHECK: s_barrier
// … and the next tile.
// CHECK-NOT: ds_read
// CHECK: ds_write
// CHECK-NOT: v_mfma
// CHECK: s_waitcnt lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK: s_setprio 1
// CHECK-COUNT-11: v_mfma
// CHECK: s_setprio 0
// CHECK: s_barrier
// CHECK: s_cbranch_scc1
//
// After the loop the first half waits for the second one.
// CHECK: s_cbranch
// CHECK: s_barrier
// REMARK: remark: in loops with dots of 'mm_eight_warps', half of the waves use the matrix units while the other half accesses memory [codegen:WavesAlternate]
// NONE-NOT: s_setprio
