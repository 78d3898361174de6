// Two loops with the same A operand and the same tiles, as in causal attention: the operand is held in registers
// once, indices of the second loop are not held during the first (recompute-after-loops), and the allocator takes no
// accumulation registers (order-matrices). So 256 of a wave's 512 registers suffice, and two blocks of 4 waves fit.
// RUN: tessera compile %S/../../kernels/attn_two_loops/attn_two_loops.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit ttgir -o - | FileCheck %s --check-prefix=OPERAND
// RUN: tessera compile %S/../../kernels/attn_two_loops/attn_two_loops.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/attn_two_loops/attn_two_loops.ttir --target gfx942 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck %s
// OPERAND: ttg.local_load {{.*}} -> tensor<128x128xbf16, #ttg.dot_op<{opIdx = 0,
// OPERAND-NOT: ttg.local_load {{.*}}opIdx = 0

// CHECK: .vgpr_count: {{ *(1[0-9][0-9]|2[0-4][0-9]|25[0-6])$}}
// CHECK: .vgpr_spill_count: 0
