// Bytes of an operand whose rows are across K are transposed by v_perm_b32, two of them for each word that is stored to
// LDS.
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx942 --num-warps 2 --num-stages 2 --emit amdgcn | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx942 --num-warps 2 --num-stages 2 --emit llir | FileCheck %s --check-prefix=LLIR
// CHECK: v_perm_b32
// CHECK: ds_write_b32
// CHECK: v_mfma_i32

// The first two words of four rows: bytes 0 and 1 of each pair of rows, then halves of these.
// LLIR: %[[LOW:.*]] = call i32 @llvm.amdgcn.perm(i32 %{{.*}}, i32 %{{.*}}, i32 83952640)
// LLIR: %[[HIGH:.*]] = call i32 @llvm.amdgcn.perm(i32 %{{.*}}, i32 %{{.*}}, i32 83952640)
// LLIR: call i32 @llvm.amdgcn.perm(i32 %[[HIGH]], i32 %[[LOW]], i32 84148480)
// LLIR: call i32 @llvm.amdgcn.perm(i32 %[[HIGH]], i32 %[[LOW]], i32 117834498)
