// tritongpu-pipeline: a tile that is copied asynchronously is read from its buffer by all of its users: two dots, and
// a layout conversion. A branch that only computes may produce the addresses.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=2 --target sm_80 --split-input-file | FileCheck %s
// One store of the copied tile less, and one load for each reader.
// CHECK-LABEL: @two_products
// CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #[[S:.*]], #smem, mutable>
// CHECK: scf.for
// CHECK: ttg.async_copy_global_to_local
// CHECK: %[[ONE:.*]] = ttg.memdesc_index %[[BUFFERS]]
// CHECK: ttg.local_load %[[ONE]] {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0
// CHECK: ttg.local_load {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1
// CHECK: ttg.local_load {{.*}} -> tensor<32x32xf16, #mma>
// CHECK-NOT: ttg.local_alloc %
// CHECK-NOT: ttg.convert_layout
// CHECK: scf.yield
// CHECK-LABEL: @branch
// CHECK: scf.if
// CHECK: ttg.async_copy_global_to_local
// CHECK: scf.for
// CHECK: ttg.async_wait
// CHECK: scf.if
// CHECK: ttg.async_copy_global_to_local
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_products(%p: tensor<32x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %y: tensor<32x32xf16, #b>, %z: tensor<32x32xf16, #a>, %n: i32) -> (tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %zero) -> (tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %xa = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
      %d = tt.dot %xa, %y, %s : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %m2 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %xb = ttg.local_load %m2 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #b>
      %e = tt.dot %z, %xb, %t : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %c = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #mma>
      %w = arith.extf %c : tensor<32x32xf16, #mma> to tensor<32x32xf32, #mma>
      %f = arith.addf %d, %w : tensor<32x32xf32, #mma>
      scf.yield %f, %e : tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>
  }
  tt.func public @branch(%p: tensor<32x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %y: tensor<32x32xf16, #b>, %n: i32, %k: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %at = %c0) -> (tensor<32x32xf32, #mma>, i32) : i32 {
      %last = arith.cmpi eq, %at, %k : i32
      %next = scf.if %last -> (i32) {
        scf.yield %c0 : i32
      } else {
        %up = arith.addi %at, %c1 : i32
        scf.yield %up : i32
      }
      %sixteen = arith.constant 16 : i32
      %far = arith.muli %next, %sixteen : i32
      %o = tt.splat %far : i32 -> tensor<32x32xi32, #blocked>
      %q = tt.addptr %p, %o : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      %x = tt.load %q : tensor<32x32x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %xa = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
      %d = tt.dot %xa, %y, %s : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      scf.yield %d, %next : tensor<32x32xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<32x32xf32, #mma>
  }
}
