// The LLVM scheduler options that tessera sets, each on a kernel whose registers depend on it alone.
// No registers reserved for occupancy that is lost anyway: this attention takes 124 VGPRs, else 146.
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx1200 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s --check-prefix=RESCHEDULE
// RESCHEDULE: {{\.vgpr_count: +1[0-3][0-9]$}}
// Exact register pressure: this grouped matmul takes 144 VGPRs, else 164.
// RUN: tessera compile %S/../../kernels/mm_grouped/mm_grouped.ttir --target gfx1100 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s --check-prefix=TRACKERS
// TRACKERS: {{\.vgpr_count: +1[0-5][0-9]$}}
