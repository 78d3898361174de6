// The program sets two options of LLVM's scheduler: with exact pressure, and no registers spent on waves that are lost
// anyway, this product takes 93 registers, without them 135.
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx1100 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s
// CHECK: {{\.vgpr_count: +[0-9][0-9]$}}
