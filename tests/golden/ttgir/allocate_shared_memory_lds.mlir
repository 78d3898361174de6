// allocate-shared-memory where unused LDS has no other purpose (it is not a cache): buffers used one after the other
// get separate bytes if occupancy stays the same, so that the second is written without waiting for the first one's
// readers.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target gfx942 --verify-each --split-input-file | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 20736 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Three blocks fit either way.
  // CHECK-LABEL: @apart
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 16384 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 20480 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @apart(%x: tensor<128xf16, #a>, %y: tensor<1024xf32, #a>, %z: tensor<4096xf32, #a>) {
    %l = ttg.local_alloc %z : (tensor<4096xf32, #a>) -> !ttg.memdesc<4096xf32, #s, #smem>
    %0 = ttg.local_alloc %y : (tensor<1024xf32, #a>) -> !ttg.memdesc<1024xf32, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<1024xf32, #s, #smem> -> tensor<1024xf32, #a>
    %2 = ttg.local_alloc %x : (tensor<128xf16, #a>) -> !ttg.memdesc<128xf16, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<128xf16, #s, #smem> -> tensor<128xf16, #a>
    %4 = ttg.local_load %l : !ttg.memdesc<4096xf32, #s, #smem> -> tensor<4096xf32, #a>
    tt.return
  }
}

// -----

// Two blocks fit with one place for both, one with two.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 32768 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @one_place
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @one_place(%x: tensor<8192xf32, #a>) {
    %0 = ttg.local_alloc %x : (tensor<8192xf32, #a>) -> !ttg.memdesc<8192xf32, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<8192xf32, #s, #smem> -> tensor<8192xf32, #a>
    %2 = ttg.local_alloc %x : (tensor<8192xf32, #a>) -> !ttg.memdesc<8192xf32, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<8192xf32, #s, #smem> -> tensor<8192xf32, #a>
    tt.return
  }
}

// -----

// A buffer without contents lives from its first use, the loop: it takes the place of what is read before.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 32768 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @before_the_loop
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK: ttg.local_alloc {allocation.offset = 0 : i32}
  // CHECK: ttg.local_load
  // CHECK: scf.for
  // CHECK: gpu.barrier
  // CHECK: ttg.local_store
  tt.func public @before_the_loop(%x: tensor<8192xf32, #a>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc %x : (tensor<8192xf32, #a>) -> !ttg.memdesc<8192xf32, #s, #smem>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<8192xf32, #s, #smem, mutable>
    %2 = ttg.local_load %0 : !ttg.memdesc<8192xf32, #s, #smem> -> tensor<8192xf32, #a>
    %3 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %2) -> (tensor<8192xf32, #a>) : i32 {
      ttg.local_store %v, %1 : tensor<8192xf32, #a> -> !ttg.memdesc<8192xf32, #s, #smem, mutable>
      %4 = ttg.local_load %1 : !ttg.memdesc<8192xf32, #s, #smem, mutable> -> tensor<8192xf32, #a>
      scf.yield %4 : tensor<8192xf32, #a>
    }
    tt.return
  }
}
