// A function whose tensors have layouts stays as it is, also where an operation would get others: the dot's accumulator
// is carried in the dot's layout.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=hip:gfx942 num-warps=4 threads-per-warp=64" | FileCheck %s
// RUN: tessera compile %s --target gfx942 --emit amdgcn --verify-each -o %t.s

// CHECK-DAG: #[[B:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[M:.*]] = #ttg.amd_mfma
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32
// CHECK: scf.for {{.*}} -> (tensor<32x32xf32, #[[M]]>)
// CHECK: tt.dot {{.*}} -> tensor<32x32xf32, #[[M]]>
// CHECK-NEXT: scf.yield
// CHECK: ttg.convert_layout {{.*}} : tensor<32x32xf32, #[[M]]> -> tensor<32x32xf32, #[[B]]>
// CHECK-NOT: ttg.convert_layout
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>
module {
  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = arith.constant dense<1.0> : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    %b = arith.constant dense<1.0> : tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %x = tt.dot %a, %b, %acc : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
      scf.yield %x : tensor<32x32xf32, #mma>
    }
    %e = ttg.convert_layout %d : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #blocked>
    tt.store %q, %e : tensor<32x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
