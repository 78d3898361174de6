// A product by fma in a loop: every lane needs rows that other lanes of its warp loaded, 128 elements by a shuffle each; from
// a buffer they come in 32 reads. Outside a loop the conversion stays.
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target gfx1100 --verify-each | FileCheck %s
// CHECK-LABEL: @fma_rows
// CHECK: ttg.convert_layout %arg0
// CHECK: scf.for
// CHECK: %[[M:.*]] = ttg.local_alloc %arg0
// CHECK: ttg.local_load %[[M]]
#wide = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #wide}>
#b = #ttg.dot_op<{opIdx = 1, parent = #wide}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @fma_rows(%x: tensor<64x16xf32, #rows>, %y: tensor<16x64xf32, #b>, %c: tensor<64x64xf32, #wide>, %n: i32) -> tensor<64x64xf32, #wide> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = ttg.convert_layout %x : tensor<64x16xf32, #rows> -> tensor<64x16xf32, #a>
    %d = tt.dot %s, %y, %c : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #wide>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %d) -> (tensor<64x64xf32, #wide>) : i32 {
      %t = ttg.convert_layout %x : tensor<64x16xf32, #rows> -> tensor<64x16xf32, #a>
      %e = tt.dot %t, %y, %acc : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #wide>
      scf.yield %e : tensor<64x64xf32, #wide>
    }
    tt.return %r : tensor<64x64xf32, #wide>
  }
}
