// A block of 16 x 16 scores is too narrow for wgmma. The dot of the probabilities that are computed from it is not
// transposed for the sake of wgmma either: maxima and sums of rows would change their layout in each iteration.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --remarks 2>&1 >/dev/null | FileCheck %s
// CHECK: the dot of f16 by f16 into f32 is computed by mma.sync 16x8x16
// CHECK: the dot of f16 by f16 into f32 is computed by mma.sync 16x8x16, {{.*}}; not by wgmma: the A operand is computed from the result of a dot by mma.sync
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#q = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#k = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @decode(%q: tensor<16x64xf16, #wide>, %pk: tensor<64x16x!tt.ptr<f16>, #wide>, %pv: tensor<16x64x!tt.ptr<f16>, #wide>, %limit: tensor<16x16xi32, #blocked>, %n: i32) -> tensor<16x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0xFF800000> : tensor<16x16xf32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32, #blocked>
    %zeros = arith.constant dense<0.0> : tensor<16x64xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<16x64xf32, #blocked>) : i32 {
      %key = tt.load %pk : tensor<64x16x!tt.ptr<f16>, #wide>
      %value = tt.load %pv : tensor<16x64x!tt.ptr<f16>, #wide>
      %qd = ttg.convert_layout %q : tensor<16x64xf16, #wide> -> tensor<16x64xf16, #q>
      %kd = ttg.convert_layout %key : tensor<64x16xf16, #wide> -> tensor<64x16xf16, #k>
      %s = tt.dot %qd, %kd, %zero : tensor<16x64xf16, #q> * tensor<64x16xf16, #k> -> tensor<16x16xf32, #blocked>
      %last = arith.cmpi eq, %i, %c0 : i32
      %masked = scf.if %last -> (tensor<16x16xf32, #blocked>) {
        %is = tt.splat %i : i32 -> tensor<16x16xi32, #blocked>
        %in = arith.cmpi slt, %is, %limit : tensor<16x16xi32, #blocked>
        %m = arith.select %in, %s, %none : tensor<16x16xi1, #blocked>, tensor<16x16xf32, #blocked>
        scf.yield %m : tensor<16x16xf32, #blocked>
      } else {
        scf.yield %s : tensor<16x16xf32, #blocked>
      }
      %p = math.exp2 %masked : tensor<16x16xf32, #blocked>
      %h = arith.truncf %p : tensor<16x16xf32, #blocked> to tensor<16x16xf16, #blocked>
      %hd = ttg.convert_layout %h : tensor<16x16xf16, #blocked> -> tensor<16x16xf16, #q>
      %vd = ttg.convert_layout %value : tensor<16x64xf16, #wide> -> tensor<16x64xf16, #k>
      %o = tt.dot %hd, %vd, %acc : tensor<16x16xf16, #q> * tensor<16x64xf16, #k> -> tensor<16x64xf32, #blocked>
      scf.yield %o : tensor<16x64xf32, #blocked>
    }
    tt.return %r : tensor<16x64xf32, #blocked>
  }
}
