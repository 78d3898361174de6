// Several atomics of a thread that order memory: relaxed ones between two fences, so that none waits for the one before
// it. Those have masks of their own, as do the loads of a window: buffer accesses, not a branch for each.
// RUN: tessera compile %S/../../kernels/window_atomics/window_atomics.ttir --target gfx950 --num-warps 4 --emit amdgcn | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: tessera compile %S/../../kernels/window_atomics/window_atomics.ttir --target gfx1100 --num-warps 8 --emit amdgcn | FileCheck %s --check-prefixes=CHECK,GFX1100
// CHECK-LABEL: {{^}}window_atomics:
// CHECK-NOT: saveexec
// GFX950: buffer_wbl2
// GFX950-NOT: buffer_inv
// CHECK-COUNT-4: buffer_atomic_add_f32
// GFX950: buffer_inv sc1
// GFX1100: buffer_gl1_inv
// CHECK-NOT: saveexec
// CHECK-COUNT-4: buffer_atomic_{{smax|max_i32}}
// GFX950: buffer_inv sc1
// GFX1100: buffer_gl1_inv
// CHECK-NOT: {{buffer_inv|buffer_gl1_inv|saveexec}}
// CHECK: s_endpgm
