// What a GEMM's tile is found with: the program's number, also where it follows from the block's by dies, and what
// remains of it are not negative, so that of six divisions only the divisors have a magnitude or a sign of their own;
// the number of iterations is a plain shift where there are some.
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx942 --num-warps 4 --num-stages 3 --emit llir | FileCheck %s --check-prefix=SIGN
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx942 --num-warps 4 --num-stages 3 --emit llir | FileCheck %s --check-prefix=COUNT
// SIGN: llvm.amdgcn.workgroup.id.x
// SIGN-COUNT-6: call i32 @llvm.abs.i32
// SIGN-NOT: call i32 @llvm.abs.i32
// COUNT-COUNT-2: sdiv i32
// COUNT-NOT: sdiv i32
// COUNT: {{(lshr|udiv) i32}}
// COUNT-NOT: sdiv i32
// COUNT: ret void
