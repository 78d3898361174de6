// uses-after-loads: blocks with MFMA stay as order-matrices orders them. In the loop of a chunk scan, what the iteration
// before loaded is waited for and used between this one's first and second load.
// RUN: tessera compile %S/next_block.mlir --target gfx942 --num-warps 8 --emit amdgcn | FileCheck %s
// CHECK: .LBB0_{{[0-9]+}}:{{[[:space:]]+}}s_waitcnt vmcnt(1)
// CHECK: v_exp_f32
// CHECK: buffer_load_dwordx2
// CHECK-NOT: buffer_load
// CHECK: s_waitcnt vmcnt(1)
// CHECK-NOT: buffer_load
// CHECK: v_mul_f32
// CHECK: v_mfma
