// allocate-shared-memory and insert-barriers: two small buffers that tensors pass through one after the other have bytes of
// their own: the barrier before a buffer's loads orders the other one's loads before its next stores.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_90a --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @operands
  // CHECK: scf.for
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = [[A:[0-9]+]] : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NOT: allocation.offset = [[A]] : i32
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: scf.yield
  tt.func public @operands(%x: tensor<256xf32, #a>, %n: i32) -> tensor<256xf32, #a> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<256xf32, #a>) : i32 {
      %0 = ttg.local_alloc %t : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
      %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
      %2 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
      %3 = ttg.local_load %2 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
      %4 = arith.addf %1, %3 : tensor<256xf32, #a>
      %5 = arith.addf %4, %t : tensor<256xf32, #a>
      scf.yield %5 : tensor<256xf32, #a>
    }
    tt.return %r : tensor<256xf32, #a>
  }
}
