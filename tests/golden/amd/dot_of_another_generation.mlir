// A dot under the layout of a matrix instruction that the target lacks is an error. RDNA 3 and 4 have instructions of
// the same types and tile whose fragments differ. Of MFMA on blocks of 4 rows the instruction broadcasts A alone, which
// transposed has 4 columns.
// RUN: tessera compile %s --target gfx1100 --emit llir -o - | FileCheck %s --check-prefix=RDNA3
// RUN: not tessera compile %s --target gfx1200 --emit llir -o - 2>&1 | FileCheck %s --check-prefix=ERROR -DTARGET=gfx1200
// RUN: not tessera compile %s --target gfx1201 --emit llir -o - 2>&1 | FileCheck %s --check-prefix=ERROR -DTARGET=gfx1201
// RUN: sed 's/version = 1/version = 2/; s/kWidth = 16/kWidth = 8/' %s > %t2
// RUN: tessera compile %t2 --target gfx1201 --emit llir -o - | FileCheck %s --check-prefix=RDNA4
// RUN: not tessera compile %t2 --target gfx1100 --emit llir -o - 2>&1 | FileCheck %s --check-prefix=ERROR -DTARGET=gfx1100
// RUN: sed 's/version = 1/version = 3/; s/kWidth = 16/kWidth = 8/' %s > %t3
// RUN: not tessera compile %t3 --target gfx1201 --emit llir -o - 2>&1 | FileCheck %s --check-prefix=ERROR -DTARGET=gfx1201
// RUN: sed 's/per-warp" = 32/per-warp" = 64/; s/= \[2, 16\]/= [4, 16]/; /^#mma/c #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [4, 64, 4], isTransposed = false}>' %s > %t4
// RUN: tessera compile %t4 --target gfx942 --emit llir -o - | FileCheck %s --check-prefix=BLOCKS
// RUN: sed 's/isTransposed = false/isTransposed = true/' %t4 > %t5
// RUN: not tessera compile %t5 --target gfx942 --emit llir -o - 2>&1 | FileCheck %s --check-prefix=ERROR -DTARGET=gfx942
// RDNA3: call {{.*}}<8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16
// RDNA4: call {{.*}}<8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16
// BLOCKS: call {{.*}}<4 x float> @llvm.amdgcn.mfma.f32.4x4x4f16
// ERROR: error: 'tt.dot' multiplies f16 and f16 into f32 under #ttg.amd_{{.*}}, for which [[TARGET]] has no instruction
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%x: !tt.ptr<f16>, %y: !tt.ptr<f32>) {
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #blocked>
    %v = tt.load %p : tensor<16x16x!tt.ptr<f16>, #blocked>
    %a = ttg.convert_layout %v : tensor<16x16xf16, #blocked> -> tensor<16x16xf16, #a>
    %b = ttg.convert_layout %v : tensor<16x16xf16, #blocked> -> tensor<16x16xf16, #b>
    %q = tt.splat %y : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #mma>
    %c = tt.load %q : tensor<16x16x!tt.ptr<f32>, #mma>
    %d = tt.dot %a, %b, %c : tensor<16x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<16x16xf32, #mma>
    tt.store %q, %d : tensor<16x16x!tt.ptr<f32>, #mma>
    tt.return
  }
}
