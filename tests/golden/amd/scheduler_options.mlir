// The LLVM scheduler options that tessera sets, each on a kernel whose registers depend on it alone.
// No registers reserved for occupancy that is lost anyway: this attention takes 250 VGPRs, else 255.
// RUN: tessera compile %S/../../kernels/attn_two_loops/attn_two_loops.ttir --target gfx1201 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s --check-prefix=RESCHEDULE
// RESCHEDULE: {{\.vgpr_count: +2(50|[0-4][0-9])$}}
// Exact register pressure: it takes 254 VGPRs, else 264.
// RUN: tessera compile %S/../../kernels/attn_two_loops/attn_two_loops.ttir --target gfx942 --num-warps 4 --num-stages 3 --emit amdgcn | FileCheck %s --check-prefix=TRACKERS
// TRACKERS: {{\.vgpr_count: +2[0-5][0-9]$}}
