// A loop with MFMA that goes round two buffers: two iterations in one, so that the buffers' addresses are constants
// apart. With eight waves that leave registers for a second block, each iteration is ordered by itself. So it is with WMMA
// if addresses are many; a loop that converts its operands has few and stays: where the buffer begins then alternates,
// without the buffer's number, which the last iteration, after the loop, does not need either. Scaled MFMA: unrolled by
// four waves (two MFMA an iteration), but not by two, for which the registers are too few.
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx950 --skip-pass warp-copy-layouts --num-warps 2 --num-stages 2 --emit llir | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx1201 --num-warps 2 --num-stages 2 --emit llir | FileCheck %s --check-prefix=ONCE
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx950 --skip-pass warp-copy-layouts --num-warps 8 --num-stages 2 --emit llir | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx1201 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s --check-prefix=WMMA
// RUN: tessera compile %S/../../kernels/mm_packed_weights/mm_packed_weights.ttir --target gfx1201 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s --check-prefix=AFTER
// RUN: tessera compile %S/../../kernels/mm_mxfp8/mm_mxfp8.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s --check-prefix=SCALED
// RUN: tessera compile %S/../../kernels/mm_mxfp8/mm_mxfp8.ttir --target gfx950 --num-warps 2 --num-stages 2 --emit llir | FileCheck %s --check-prefix=SCALED
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s --check-prefix=THREE
// Three buffers: up to two iterations are left over, in copies of their own.
// THREE: {{^}}for:
// THREE-COUNT-6: call <16 x i32> @llvm.amdgcn.mfma
// THREE: br i1 {{.*}}label %for{{$}}
// THREE-COUNT-2: call <16 x i32> @llvm.amdgcn.mfma
// THREE: br i1 {{.*}}label %end, label %[[LAST:.*]]
// THREE: {{^}}[[LAST]]:
// THREE-COUNT-2: call <16 x i32> @llvm.amdgcn.mfma
// THREE-NOT: br i1
// THREE: br label %end
// SCALED: {{^}}for:
// SCALED-NOT: br i1
// SCALED-COUNT-4: @llvm.amdgcn.mfma.scale
// SCALED-NOT: @llvm.amdgcn.mfma.scale
// SCALED: br i1
// CHECK: {{^}}for:
// CHECK-NOT: br i1
// CHECK-COUNT-4: call <16 x i32> @llvm.amdgcn.mfma
// CHECK-NOT: call <16 x i32> @llvm.amdgcn.mfma
// CHECK: br i1 {{.*}}label %for{{$}}
// ONCE: {{^}}for:
// ONCE-COUNT-16: call <8 x i32> @llvm.amdgcn.wmma
// ONCE-NOT: call <8 x i32> @llvm.amdgcn.wmma
// ONCE: br i1 {{.*}}label %for
// EIGHT: {{^}}for:
// EIGHT-NOT: br i1
// EIGHT: call <4 x i32> @llvm.amdgcn.mfma
// EIGHT-NOT: {{br i1|call <4 x i32> @llvm.amdgcn.mfma}}
// EIGHT: call void @llvm.amdgcn.sched.barrier(i32 2047)
// EIGHT-NEXT: call void @llvm.amdgcn.sched.barrier(i32 0)
// EIGHT-NOT: br i1
// EIGHT: call <4 x i32> @llvm.amdgcn.mfma
// EIGHT-NOT: call <4 x i32> @llvm.amdgcn.mfma
// EIGHT: br i1 {{.*}}label %for{{$}}
// WMMA: {{^}}for:
// WMMA-NOT: br i1
// WMMA-COUNT-16: call <8 x i32> @llvm.amdgcn.wmma
// WMMA-NOT: {{br i1|call <8 x i32> @llvm.amdgcn.wmma}}
// WMMA: call void @llvm.amdgcn.sched.barrier(i32 2047)
// WMMA-NOT: br i1
// WMMA-COUNT-16: call <8 x i32> @llvm.amdgcn.wmma
// WMMA-NOT: call <8 x i32> @llvm.amdgcn.wmma
// WMMA: br i1 {{.*}}label %for{{$}}
// AFTER: {{^}}for:
// AFTER: %[[AT:buffer.*]] = phi i32
// AFTER: xor i32 %[[AT]],
// AFTER-NOT: icmp eq i32 %buffer
// AFTER: ret void
