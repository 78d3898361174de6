// Attention whose registers just do not suffice on RDNA 3: indices that are not used in the loop were spilled around it.
// They are computed again after it (recompute-after-loops), which kernels that do not spill are compiled without.
// RUN: tessera compile %S/../../kernels/desc_arguments_attn_grouped/desc_arguments_attn_grouped.ttir --target gfx1100 --num-warps 8 --num-stages 2 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/desc_arguments_attn_grouped/desc_arguments_attn_grouped.ttir --target gfx1100 --num-warps 8 --num-stages 2 -o %t.hsaco --remarks=Resources 2>&1 | FileCheck %s --check-prefix=OBJECT
// CHECK-LABEL: attn_grouped:
// CHECK-NOT: scratch_
// CHECK: .vgpr_spill_count: 0
// OBJECT: registers of a thread (0 bytes spilled)
// The same on CDNA, behind the loop of a matmul of E4M3, which gfx942 widens.
// RUN: tessera compile %S/../../../benchmarks/kernels/mm_fp8_8192/mm_fp8_8192.ttir --target gfx942 --num-warps 8 --num-stages 4 --emit amdgcn -o - | FileCheck %s --check-prefix=MFMA
// MFMA: .vgpr_spill_count: 0
