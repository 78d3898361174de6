// tritongpu-accelerate-matmul on AMD: scores that two dots add up, of queries and keys in two parts, as in multi-head
// latent attention. Both dots have the layout of the chain, warps along the rows. The same dots without the chain choose
// their warps freely.
// RUN: tessera opt %s -tritongpu-accelerate-matmul -cse | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#x = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#y = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
// CHECK-DAG: #[[CHAIN:.*]] = #ttg.amd_mfma<{{.*}}warpsPerCTA = [4, 1]
// CHECK-DAG: #[[FREE:.*]] = #ttg.amd_mfma<{{.*}}warpsPerCTA = [2, 2]
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @chain
  // CHECK: tt.dot {{.*}} -> tensor<128x64xf32, #[[CHAIN]]>
  // CHECK: tt.dot {{.*}} -> tensor<128x64xf32, #[[CHAIN]]>
  // CHECK: tt.dot {{.*}} -> tensor<128x128xf32, #[[CHAIN]]>
  tt.func public @chain(%q: tensor<128x128xf16, #x>, %k: tensor<128x64xf16, #y>, %r: tensor<128x32xf16, #x>, %s: tensor<32x64xf16, #y>, %v: tensor<64x128xf16, #y>) -> tensor<128x128xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #blocked>
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #blocked>
    %a = tt.dot %q, %k, %zero : tensor<128x128xf16, #x> * tensor<128x64xf16, #y> -> tensor<128x64xf32, #blocked>
    %b = tt.dot %r, %s, %a : tensor<128x32xf16, #x> * tensor<32x64xf16, #y> -> tensor<128x64xf32, #blocked>
    %e = math.exp2 %b : tensor<128x64xf32, #blocked>
    %h = arith.truncf %e : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %p = ttg.convert_layout %h : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #x>
    %o = tt.dot %p, %v, %none : tensor<128x64xf16, #x> * tensor<64x128xf16, #y> -> tensor<128x128xf32, #blocked>
    tt.return %o : tensor<128x128xf32, #blocked>
  }
  // CHECK-LABEL: @sum
  // CHECK: tt.dot {{.*}} -> tensor<128x64xf32, #[[FREE]]>
  // CHECK: tt.dot {{.*}} -> tensor<128x64xf32, #[[FREE]]>
  tt.func public @sum(%q: tensor<128x128xf16, #x>, %k: tensor<128x64xf16, #y>, %r: tensor<128x32xf16, #x>, %s: tensor<32x64xf16, #y>) -> tensor<128x64xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #blocked>
    %a = tt.dot %q, %k, %zero : tensor<128x128xf16, #x> * tensor<128x64xf16, #y> -> tensor<128x64xf32, #blocked>
    %b = tt.dot %r, %s, %a : tensor<128x32xf16, #x> * tensor<32x64xf16, #y> -> tensor<128x64xf32, #blocked>
    tt.return %b : tensor<128x64xf32, #blocked>
  }
}
