// A loop that two iterations of are unrolled, with the last of an odd number apart, and that may have none: the
// accumulator is set to zero once, and is in the same registers in the loop, after it, and around it.
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx942 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s
// CHECK-LABEL: {{^}}matmul:
// CHECK: s_barrier
// CHECK-NOT: v_mov_b32_e32 v{{[0-9]+}}, 0
// CHECK: v_mfma_i32_32x32x16_i8 v[[ACC:[^,]*]], v{{.*}}, v{{.*}}, v[[ACC]]
// CHECK-NOT: v_mov_b32
// CHECK: s_cbranch
// CHECK-NOT: v_mov_b32
// CHECK: v_mfma_i32_32x32x16_i8 v[[ACC]], v{{.*}}, v{{.*}}, v[[ACC]]
// CHECK-NOT: v_mov_b32
// CHECK: s_endpgm
