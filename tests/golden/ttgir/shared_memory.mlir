// Buffers that do not live at the same time share bytes; barriers stand where an access meets an earlier one of other
// threads, and nowhere else.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_90a --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 2048 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The second buffer takes the bytes of the first, whose last use comes before: a barrier for read before write.
  // CHECK-LABEL: @reuse
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @reuse(%x: tensor<256xf32, #a>) {
    %0 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    %2 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    tt.return
  }

  // Both live at once: own bytes, one barrier for both.
  // CHECK-LABEL: @apart
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = [[A:[0-9]+]] : i32}
  // CHECK-NOT: gpu.barrier
  // CHECK-NOT: allocation.offset = [[A]] : i32
  // CHECK: ttg.local_alloc
  // CHECK: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @apart(%x: tensor<256xf32, #a>) {
    %0 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %1 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %2 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    %3 = ttg.local_load %1 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    tt.return
  }

  // In a loop the store follows the load of the round before.
  // CHECK-LABEL: @loop
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: }
  tt.func public @loop(%x: tensor<256xf32, #a>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %x, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
      %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
    }
    tt.return
  }

  // One of two paths stores: the load after them waits.
  // CHECK-LABEL: @branch
  // CHECK: cf.cond_br
  // CHECK: ttg.local_store
  // CHECK: ^bb2:
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  tt.func public @branch(%x: tensor<256xf32, #a>, %c: i1) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    ttg.local_store %x, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    cf.br ^bb2
  ^bb2:
    %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
    tt.return
  }
}
