// tritongpu-pipeline: by mma.sync, operands that do not all fit into registers at once are read in parts. Where three
// stages leave room for one block, two buffers that are filled again after their last read leave room for two, if the
// accumulators and a part of the operands do as well. With accumulators that take most of the registers one block fits
// either way: three buffers, and the copies come first.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_90a | FileCheck %s
// CHECK-LABEL: @few_sums
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x32x128xf32
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x128x64xf32
// CHECK: scf.for
// CHECK: ttg.local_load {{.*}} -> tensor<32x128xf32, #ttg.dot_op<{opIdx = 0
// CHECK: ttg.local_load {{.*}} -> tensor<128x64xf32, #ttg.dot_op<{opIdx = 1
// CHECK-NOT: ttg.async_copy_global_to_local
// CHECK: tt.dot
// CHECK: ttg.async_copy_global_to_local {{.*}} -> <32x128xf32
// CHECK: ttg.async_copy_global_to_local {{.*}} -> <128x64xf32
// CHECK: scf.yield

// CHECK-LABEL: @many_sums
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x128x32xf32
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x32x256xf32
// CHECK: scf.for
// CHECK: ttg.async_copy_global_to_local
// CHECK: tt.dot
// CHECK-NOT: ttg.async_copy_global_to_local
// CHECK: scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @few_sums(%p: tensor<32x128x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f32>, #blocked1> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<32x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<32x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<32x128x!tt.ptr<f32>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f32>, #blocked1>
      %m = ttg.local_alloc %x : (tensor<32x128xf32, #blocked>) -> !ttg.memdesc<32x128xf32, #shared, #smem>
      %k = ttg.local_alloc %y : (tensor<128x64xf32, #blocked1>) -> !ttg.memdesc<128x64xf32, #shared1, #smem>
      %xa = ttg.local_load %m : !ttg.memdesc<32x128xf32, #shared, #smem> -> tensor<32x128xf32, #a>
      %yb = ttg.local_load %k : !ttg.memdesc<128x64xf32, #shared1, #smem> -> tensor<128x64xf32, #b>
      %d = tt.dot %xa, %yb, %s, inputPrecision = tf32 : tensor<32x128xf32, #a> * tensor<128x64xf32, #b> -> tensor<32x64xf32, #mma>
      scf.yield %d : tensor<32x64xf32, #mma>
    }
    tt.return %r : tensor<32x64xf32, #mma>
  }

  tt.func public @many_sums(%p: tensor<128x32x!tt.ptr<f32>, #blocked2> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: tensor<32x256x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}, %n: i32) -> tensor<128x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x256xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x32x!tt.ptr<f32>, #blocked2>
      %y = tt.load %q : tensor<32x256x!tt.ptr<f32>, #blocked>
      %m = ttg.local_alloc %x : (tensor<128x32xf32, #blocked2>) -> !ttg.memdesc<128x32xf32, #shared, #smem>
      %k = ttg.local_alloc %y : (tensor<32x256xf32, #blocked>) -> !ttg.memdesc<32x256xf32, #shared1, #smem>
      %xa = ttg.local_load %m : !ttg.memdesc<128x32xf32, #shared, #smem> -> tensor<128x32xf32, #a>
      %yb = ttg.local_load %k : !ttg.memdesc<32x256xf32, #shared1, #smem> -> tensor<32x256xf32, #b>
      %d = tt.dot %xa, %yb, %s, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x256xf32, #b> -> tensor<128x256xf32, #mma>
      scf.yield %d : tensor<128x256xf32, #mma>
    }
    tt.return %r : tensor<128x256xf32, #mma>
  }
}
