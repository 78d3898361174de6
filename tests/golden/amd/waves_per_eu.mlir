// waves-per-eu reaches LLVM, which limits registers to that occupancy: eight waves per SIMD have 64 VGPRs each on
// gfx942.
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --emit llir -o - | FileCheck %s --check-prefix=NONE
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --waves-per-eu 4 --emit llir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --waves-per-eu 8 --emit amdgcn -o - | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target sm_80 --waves-per-eu 9 --matrix-instr-nonkdim 32 --emit llir -o - | FileCheck %s --check-prefix=NONE
// NONE-NOT: waves-per-eu
// FOUR: "amdgpu-waves-per-eu"="4,4"
// EIGHT: .vgpr_count: {{ *([1-5]?[0-9]|6[0-4])$}}
