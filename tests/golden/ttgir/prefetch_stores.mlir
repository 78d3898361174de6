// tritongpu-prefetch reads a buffer before the iteration starts: nothing in the iteration may have written it.
// RUN: tessera opt %s -tritongpu-prefetch --remarks=Prefetched 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t
// REMARK-COUNT-1: the first step of the operands of its dots is loaded from shared memory an iteration ahead [tritongpu-prefetch:Prefetched]
// REMARK-NOT: Prefetched

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#x = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#y = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#x4 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#y4 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#sh = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// The buffer is filled in the iteration that reads it.
// CHECK-LABEL: @store_of_the_slot
// CHECK: scf.for
// CHECK-COUNT-1: tt.dot
// CHECK-NOT: tt.dot
// CHECK: scf.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
tt.func public @store_of_the_slot(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ra = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rb = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rc = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
    %s1 = arith.addi %s, %c1 : i32
    %ge = arith.cmpi sge, %s1, %c2 : i32
    %s2 = arith.select %ge, %c0, %s1 : i32
    %a = ttg.memdesc_index %ra[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %b = ttg.memdesc_index %rb[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %c = ttg.memdesc_index %rc[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %an = ttg.memdesc_index %ra[%s2] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    ttg.local_store %v, %a : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %u = ttg.local_load %a : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #x>
    %w = ttg.local_load %b : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #y>
    %d = tt.dot %u, %w, %acc : tensor<64x64xf16, #x> * tensor<64x64xf16, #y> -> tensor<64x64xf32, #mma>
    scf.yield %d, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
// … or after the one operand is read and before the other is: the rest of the first is not read later either.
// CHECK-LABEL: @store_between
// CHECK: scf.for
// CHECK-COUNT-1: tt.dot
// CHECK-NOT: tt.dot
// CHECK: scf.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
tt.func public @store_between(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ra = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rb = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rc = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
    %s1 = arith.addi %s, %c1 : i32
    %ge = arith.cmpi sge, %s1, %c2 : i32
    %s2 = arith.select %ge, %c0, %s1 : i32
    %a = ttg.memdesc_index %ra[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %b = ttg.memdesc_index %rb[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %c = ttg.memdesc_index %rc[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %an = ttg.memdesc_index %ra[%s2] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %u = ttg.local_load %a : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #x>
    ttg.local_store %v, %a : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %w = ttg.local_load %b : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #y>
    %d = tt.dot %u, %w, %acc : tensor<64x64xf16, #x> * tensor<64x64xf16, #y> -> tensor<64x64xf32, #mma>
    scf.yield %d, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
// The next buffer, filled before this one is read, might be the same.
// CHECK-LABEL: @store_of_the_next
// CHECK: scf.for
// CHECK-COUNT-1: tt.dot
// CHECK-NOT: tt.dot
// CHECK: scf.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
tt.func public @store_of_the_next(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ra = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rb = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rc = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
    %s1 = arith.addi %s, %c1 : i32
    %ge = arith.cmpi sge, %s1, %c2 : i32
    %s2 = arith.select %ge, %c0, %s1 : i32
    %a = ttg.memdesc_index %ra[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %b = ttg.memdesc_index %rb[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %c = ttg.memdesc_index %rc[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %an = ttg.memdesc_index %ra[%s2] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    ttg.local_store %v, %an : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %u = ttg.local_load %a : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #x>
    %w = ttg.local_load %b : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #y>
    %d = tt.dot %u, %w, %acc : tensor<64x64xf16, #x> * tensor<64x64xf16, #y> -> tensor<64x64xf32, #mma>
    scf.yield %d, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
// Filled after it is read, for the next iteration.
// CHECK-LABEL: @store_after
// CHECK: ttg.memdesc_subslice
// CHECK: scf.for
// CHECK-COUNT-3: tt.dot
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @store_after(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ra = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rb = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rc = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
    %s1 = arith.addi %s, %c1 : i32
    %ge = arith.cmpi sge, %s1, %c2 : i32
    %s2 = arith.select %ge, %c0, %s1 : i32
    %a = ttg.memdesc_index %ra[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %b = ttg.memdesc_index %rb[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %c = ttg.memdesc_index %rc[%s] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %an = ttg.memdesc_index %ra[%s2] : !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    %u = ttg.local_load %a : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #x>
    %w = ttg.local_load %b : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #y>
    %d = tt.dot %u, %w, %acc : tensor<64x64xf16, #x> * tensor<64x64xf16, #y> -> tensor<64x64xf32, #mma>
    ttg.local_store %v, %an : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #sh, #smem, mutable>
    scf.yield %d, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
}
