// tritongpu-pipeline: copies into the buffers that an iteration reads itself come after the last of these reads, also where
// that is not one for the dot.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=5 --target sm_90a | FileCheck %s
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<4x32x128xf16
// CHECK: scf.for
// CHECK: %[[A:.*]] = ttg.memdesc_index
// CHECK: ttg.local_load %[[A]] {{.*}} -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 0
// CHECK: ttg.local_load {{.*}} -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 1
// CHECK-NOT: ttg.async_copy_global_to_local
// CHECK: tt.dot
// CHECK-NOT: ttg.async_copy_global_to_local
// CHECK: ttg.local_load {{.*}} -> tensor<32x128xf16, #blocked
// CHECK: ttg.async_copy_global_to_local {{.*}} -> <32x128xf16
// CHECK: ttg.async_copy_global_to_local {{.*}} -> <128x32xf16
// CHECK: scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%p: tensor<32x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x32x!tt.ptr<f16>, #blocked1> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n: i32) -> (tensor<32x32xf32, #mma>, tensor<32x128xf16, #other>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<32x128xf16, #other>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %none) -> (tensor<32x32xf32, #mma>, tensor<32x128xf16, #other>) : i32 {
      %x = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x32x!tt.ptr<f16>, #blocked1>
      %m = ttg.local_alloc %x : (tensor<32x128xf16, #blocked>) -> !ttg.memdesc<32x128xf16, #shared, #smem>
      %k = ttg.local_alloc %y : (tensor<128x32xf16, #blocked1>) -> !ttg.memdesc<128x32xf16, #shared1, #smem>
      %xa = ttg.local_load %m : !ttg.memdesc<32x128xf16, #shared, #smem> -> tensor<32x128xf16, #a>
      %yb = ttg.local_load %k : !ttg.memdesc<128x32xf16, #shared1, #smem> -> tensor<128x32xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<32x128xf16, #a> * tensor<128x32xf16, #b> -> tensor<32x32xf32, #mma>
      %c = ttg.convert_layout %x : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #other>
      %f = arith.addf %t, %c : tensor<32x128xf16, #other>
      scf.yield %d, %f : tensor<32x32xf32, #mma>, tensor<32x128xf16, #other>
    }
    tt.return %r#0, %r#1 : tensor<32x32xf32, #mma>, tensor<32x128xf16, #other>
  }
}
