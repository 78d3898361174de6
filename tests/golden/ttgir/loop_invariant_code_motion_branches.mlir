// loop-invariant-code-motion: of the branches in a loop, conversions of layouts leave with the branch; what is computed in
// registers stays.
// RUN: tessera opt %s -loop-invariant-code-motion --verify-each | FileCheck %s
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @branches
  // CHECK: %[[P:.*]] = ttg.convert_layout %arg1
  // CHECK-NEXT: %[[Q:.*]] = ttg.convert_layout %arg0
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: arith.cmpi
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: arith.addf %arg0, %arg0
  // CHECK-NEXT: ttg.convert_layout
  // CHECK: arith.addf %{{.*}}, %[[Q]]
  // CHECK: scf.if
  // CHECK-NEXT: arith.addf %{{.*}}, %[[P]]
  tt.func public @branches(%q: tensor<64x64xf16, #row>, %p: tensor<64x64xf16, #row>, %n: i32, %most: i32, %inner: i1) -> tensor<64x64xf16, #column> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf16, #column>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf16, #column>) : i32 {
      %some = arith.cmpi slt, %i, %most : i32
      %s = scf.if %some -> (tensor<64x64xf16, #column>) {
        %twice = arith.addf %q, %q : tensor<64x64xf16, #row>
        %twiceC = ttg.convert_layout %twice : tensor<64x64xf16, #row> -> tensor<64x64xf16, #column>
        %t = arith.addf %sum, %twiceC : tensor<64x64xf16, #column>
        %qc = ttg.convert_layout %q : tensor<64x64xf16, #row> -> tensor<64x64xf16, #column>
        %u = arith.addf %t, %qc : tensor<64x64xf16, #column>
        %v = scf.if %inner -> (tensor<64x64xf16, #column>) {
          %c = ttg.convert_layout %p : tensor<64x64xf16, #row> -> tensor<64x64xf16, #column>
          %w = arith.addf %u, %c : tensor<64x64xf16, #column>
          scf.yield %w : tensor<64x64xf16, #column>
        } else {
          scf.yield %u : tensor<64x64xf16, #column>
        }
        scf.yield %v : tensor<64x64xf16, #column>
      } else {
        scf.yield %sum : tensor<64x64xf16, #column>
      }
      scf.yield %s : tensor<64x64xf16, #column>
    }
    tt.return %r : tensor<64x64xf16, #column>
  }
}
