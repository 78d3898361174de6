// allocate-shared-memory and insert-barriers: buffers with disjoint lifetimes share bytes; there is a barrier where an
// access conflicts with an earlier one of other threads, and nowhere else.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_90a --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 4096 : i32
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
  tt.func public @reuse(%x: tensor<1024xf32, #a>) {
    %0 = ttg.local_alloc %x : (tensor<1024xf32, #a>) -> !ttg.memdesc<1024xf32, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<1024xf32, #s, #smem> -> tensor<1024xf32, #a>
    %2 = ttg.local_alloc %x : (tensor<1024xf32, #a>) -> !ttg.memdesc<1024xf32, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<1024xf32, #s, #smem> -> tensor<1024xf32, #a>
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

  // In a loop the store follows the load of the previous iteration.
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

  // After an early return as before it: the second buffer takes the bytes of the first.
  // CHECK-LABEL: @early_return
  // CHECK: ^bb2:
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  tt.func public @early_return(%x: tensor<1024xf32, #a>, %c: i1) {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    tt.return
  ^bb2:
    %0 = ttg.local_alloc %x : (tensor<1024xf32, #a>) -> !ttg.memdesc<1024xf32, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<1024xf32, #s, #smem> -> tensor<1024xf32, #a>
    %2 = ttg.local_alloc %x : (tensor<1024xf32, #a>) -> !ttg.memdesc<1024xf32, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<1024xf32, #s, #smem> -> tensor<1024xf32, #a>
    tt.return
  }

  // Used in a later block: it lives until then.
  // CHECK-LABEL: @later_block
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = [[KEPT:[0-9]+]] : i32}
  // CHECK: ^bb1:
  // CHECK-NOT: allocation.offset = [[KEPT]] : i32
  // CHECK: ^bb2:
  // CHECK: ttg.local_load
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  tt.func public @later_block(%x: tensor<256xf32, #a>, %c: i1) {
    %0 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %1 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %2 = ttg.local_load %1 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    cf.br ^bb2
  ^bb2:
    %3 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    %4 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %5 = ttg.local_load %4 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    tt.return
  }

  // Where blocks branch back, a buffer that another block uses lives to the end.
  // CHECK-LABEL: @branch_back
  // CHECK: ttg.local_alloc {allocation.offset = [[CARRIED:[0-9]+]] : i32}
  // CHECK: ^bb1:
  // CHECK: ttg.local_load
  // CHECK: ^bb2:
  // CHECK-NOT: allocation.offset = [[CARRIED]] : i32
  // CHECK: tt.return
  tt.func public @branch_back(%x: tensor<256xf32, #a>, %c: i1) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    ttg.local_store %x, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    cf.br ^bb1
  ^bb1:
    %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
    cf.br ^bb2
  ^bb2:
    %2 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    cf.cond_br %c, ^bb1, ^bb3
  ^bb3:
    tt.return
  }
}
