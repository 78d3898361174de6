// matrix-instr-nonkdim. Attention with 64 rows on four waves: by default each wave has a 16-row strip of the first dot
// and, for the second dot, which ends the chain, a 32x32 tile; with 16 both are strips, with 32 both use 32x32 tiles.
// Types without such a tile (f64, WMMA) are unaffected.
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --emit ttgir -o - | FileCheck %s --check-prefix=OWN
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --emit amdgcn -o - | FileCheck %s --check-prefix=OWN-LOOP
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --matrix-instr-nonkdim 16 --emit ttgir -o - | FileCheck %s --check-prefix=STRIP
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --matrix-instr-nonkdim 32 --emit ttgir -o - | FileCheck %s --check-prefix=WIDE
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --matrix-instr-nonkdim 16 --emit ttgir -o - | FileCheck %s --check-prefix=SMALL
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx1201 --matrix-instr-nonkdim 32 --emit ttgir -o - | FileCheck %s --check-prefix=WMMA
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --matrix-instr-nonkdim 32 --emit amdgcn -o - | FileCheck %s --check-prefix=LOOP
// OWN: #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// OWN: #mma1 = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
// In and after the loop eight of the first dot and four of the second, which comes first in the loop's text.
// OWN-LOOP-COUNT-4: v_mfma_f32_32x32x8_f16
// OWN-LOOP-COUNT-16: v_mfma_f32_16x16x16_f16
// OWN-LOOP-COUNT-4: v_mfma_f32_32x32x8_f16
// OWN-LOOP-NOT: v_mfma
// STRIP: instrShape = [16, 16, 16]
// STRIP-NOT: instrShape = [32
// WIDE: instrShape = [32, 32, 8]
// WIDE-NOT: instrShape = [16
// SMALL: instrShape = [16, 16, 16]
// SMALL-NOT: instrShape = [32
// WMMA: #ttg.amd_wmma<{version = 2
// In and after the loop 12 each, eight of the first dot and four of the second.
// LOOP-COUNT-24: v_mfma_f32_32x32x8_f16
// LOOP-NOT: v_mfma
