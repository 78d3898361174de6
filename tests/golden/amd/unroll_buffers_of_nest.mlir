// A loop of four iterations within another, with three buffers: LLVM unrolls the inner loop, so that the outer one
// advances by four buffers an iteration. After three iterations it is at the first buffer again and is unrolled by three; up
// to two iterations are left over. With two buffers each iteration begins with the same one, and the loop stays.
// RUN: tessera compile %S/../../kernels/mm_taps/mm_taps.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_taps/mm_taps.ttir --target gfx950 --num-warps 4 --num-stages 2 --skip-pass warp-copy-layouts --emit llir | FileCheck %s --check-prefix=TWO
// CHECK: {{^}}for:
// CHECK-NOT: icmp sgt
// CHECK-COUNT-24: call {{.*}}<16 x float> @llvm.amdgcn.mfma
// CHECK-NOT: icmp sgt
// CHECK: br i1 {{.*}}label %for{{$}}
// CHECK-COUNT-16: call {{.*}}<16 x float> @llvm.amdgcn.mfma
// CHECK-NOT: call {{.*}}@llvm.amdgcn.mfma
// CHECK: ret void
// TWO: {{^}}for:
// TWO-COUNT-8: call {{.*}}<16 x float> @llvm.amdgcn.mfma
// TWO-NOT: call {{.*}}@llvm.amdgcn.mfma
// TWO: ret void
