// Remarks of tritongpu-accelerate-matmul: which instruction each dot uses, or why it uses FMA.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --remarks --target sm_90a 2>&1 >/dev/null | FileCheck %s --check-prefix=SM90
// RUN: tessera opt %s -tritongpu-accelerate-matmul --remarks --target gfx942 2>&1 >/dev/null | FileCheck %s --check-prefix=GFX942
// RUN: tessera opt %s -tritongpu-accelerate-matmul --remarks-json=%t --target sm_90a >/dev/null && FileCheck %s --check-prefix=JSON < %t
// Only those that match.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --remarks=LoopPipelined --target sm_90a 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// SM90: remark: the dot of f16 by f16 into f32 is computed by wgmma m64n64k16 [tritongpu-accelerate-matmul:DotInstruction]
// SM90: remark: the dot of f32 by f32 into f32 is computed by fma: sm_90a has no matrix instruction for the types and this precision
// SM90: remark: the dot of f16 by f16 into f32 is computed by mma.sync 16x8x16, {{.*}}; not by wgmma: the shape has no tile of 64 rows
// GFX942: remark: the dot of f16 by f16 into f32 is computed by MFMA 32x32x8
// JSON: "facts": {
// JSON: "instruction": "wgmma m64n64k16"
// JSON: "kind": "applied"
// JSON: "kind": "missed"
// NONE-NOT: remark
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f16(%x: tensor<64x64xf16, #a>, %y: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %d = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }
  tt.func public @ieee(%x: tensor<64x64xf32, #a>, %y: tensor<64x64xf32, #b>, %c: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %d = tt.dot %x, %y, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }
  tt.func public @small(%x: tensor<32x64xf16, #a>, %y: tensor<64x32xf16, #b>, %c: tensor<32x32xf32, #acc>) -> tensor<32x32xf32, #acc> {
    %d = tt.dot %x, %y, %c : tensor<32x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<32x32xf32, #acc>
    tt.return %d : tensor<32x32xf32, #acc>
  }
}
