// The LLVM scheduler options that tessera sets (exact register pressure, no registers reserved for occupancy that is
// lost anyway): this matmul takes 93 VGPRs, without them 135.
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx1100 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s
// CHECK: {{\.vgpr_count: +[0-9][0-9]$}}
