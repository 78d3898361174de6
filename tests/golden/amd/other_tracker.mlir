// An fma dot that nearly fills the registers. The order that LLVM's scheduler finds with the target's tracker of register
// pressure spills 64 bytes of a thread, the one with the shared tracker none, and is taken.
// RUN: tessera compile %S/../../kernels/tall_sum/tall_sum.ttir --target gfx942 --num-warps 1 --num-stages 2 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: tall_sum:
// CHECK-NOT: scratch_
// CHECK: .vgpr_spill_count: 0
