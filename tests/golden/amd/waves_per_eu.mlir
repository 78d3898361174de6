// The hint reaches LLVM, which then keeps to the registers of so many waves: eight of a SIMD have 64 each on gfx942.
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --emit llir -o - | FileCheck %s --check-prefix=NONE
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --waves-per-eu 4 --emit llir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --waves-per-eu 8 --emit amdgcn -o - | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target sm_80 --waves-per-eu 8 --emit llir -o - | FileCheck %s --check-prefix=NONE
// NONE-NOT: waves-per-eu
// FOUR: "amdgpu-waves-per-eu"="4,4"
// EIGHT: .vgpr_count: {{ *([1-5]?[0-9]|6[0-4])$}}
