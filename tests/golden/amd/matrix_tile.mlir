// The tile of matrix instructions as asked for. Attention of 64 rows on four waves: by itself each wave has a strip of 16 rows
// in both products; with 32 both take tiles of 32 by 32. Where the types have no such tile (f64, WMMA) it stays as it is.
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --emit ttgir -o - | FileCheck %s --check-prefix=OWN
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --matrix-instr-nonkdim 32 --emit ttgir -o - | FileCheck %s --check-prefix=WIDE
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx942 --matrix-instr-nonkdim 16 --emit ttgir -o - | FileCheck %s --check-prefix=SMALL
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx1201 --matrix-instr-nonkdim 32 --emit ttgir -o - | FileCheck %s --check-prefix=WMMA
// RUN: tessera compile %S/../../kernels/attn/attn.ttir --target gfx942 --matrix-instr-nonkdim 32 --emit amdgcn -o - | FileCheck %s --check-prefix=LOOP
// OWN: instrShape = [16, 16, 16]
// OWN-NOT: instrShape = [32
// WIDE: instrShape = [32, 32, 8]
// WIDE-NOT: instrShape = [16
// SMALL: instrShape = [16, 16, 16]
// SMALL-NOT: instrShape = [32
// WMMA: #ttg.amd_wmma<{version = 2
// In and after the loop 12 each, eight of the first product and four of the second.
// LOOP-COUNT-24: v_mfma_f32_32x32x8_f16
// LOOP-NOT: v_mfma
