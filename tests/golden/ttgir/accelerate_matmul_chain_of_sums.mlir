// Scores in two parts, as of keys with a rotated tail: the second dot accumulates on the first one's result, and the
// probabilities are computed from it. The second dot is part of a chain and is not transposed; so the first one is not
// either, whose result would change its layout for it in each iteration.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --remarks 2>&1 >/dev/null | FileCheck %s
// CHECK: the dot of f16 by f16 into f32 is computed by mma.sync 16x8x16, {{.*}}; not by wgmma: an operand cannot be read from shared memory as it lies, and a dot that is part of a chain accumulates on the result
// CHECK: the dot of f16 by f16 into f32 is computed by mma.sync 16x8x16, {{.*}}; not by wgmma: an operand cannot be read from shared memory as it lies, and the dot is part of a chain
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @decode(%q: tensor<16x64xf16, #rows>, %tail: tensor<16x64xf16, #rows>, %pk: tensor<64x64x!tt.ptr<f16>, #columns>, %pt: tensor<64x64x!tt.ptr<f16>, #columns>, %pv: tensor<64x64x!tt.ptr<f16>, #rows>, %n: i32) -> tensor<16x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<16x64xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<16x64xf32, #blocked>) : i32 {
      %key = tt.load %pk : tensor<64x64x!tt.ptr<f16>, #columns>
      %rotated = tt.load %pt : tensor<64x64x!tt.ptr<f16>, #columns>
      %value = tt.load %pv : tensor<64x64x!tt.ptr<f16>, #rows>
      %qd = ttg.convert_layout %q : tensor<16x64xf16, #rows> -> tensor<16x64xf16, #a>
      %kd = ttg.convert_layout %key : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #b>
      %s = tt.dot %qd, %kd, %zeros : tensor<16x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<16x64xf32, #blocked>
      %td = ttg.convert_layout %tail : tensor<16x64xf16, #rows> -> tensor<16x64xf16, #a>
      %rd = ttg.convert_layout %rotated : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #b>
      %sum = tt.dot %td, %rd, %s : tensor<16x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<16x64xf32, #blocked>
      %p = math.exp2 %sum : tensor<16x64xf32, #blocked>
      %h = arith.truncf %p : tensor<16x64xf32, #blocked> to tensor<16x64xf16, #blocked>
      %hd = ttg.convert_layout %h : tensor<16x64xf16, #blocked> -> tensor<16x64xf16, #a>
      %vd = ttg.convert_layout %value : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #b>
      %o = tt.dot %hd, %vd, %acc : tensor<16x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<16x64xf32, #blocked>
      scf.yield %o : tensor<16x64xf32, #blocked>
    }
    tt.return %r : tensor<16x64xf32, #blocked>
  }
}
