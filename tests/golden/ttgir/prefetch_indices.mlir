// tritongpu-prefetch reads the next iteration's buffer: its index must be in range even if no iteration follows.
// RUN: tessera opt %s -tritongpu-prefetch --remarks=Prefetched 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t
// REMARK-COUNT-2: the first step of the operands of its dots is loaded from shared memory an iteration ahead [tritongpu-prefetch:Prefetched]
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
// A buffer for each iteration: there is none after the last.
// CHECK-LABEL: @counts
// CHECK: scf.for
// CHECK-COUNT-1: tt.dot
// CHECK-NOT: tt.dot
// CHECK: scf.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
tt.func public @counts(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
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
    scf.yield %d, %s1 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
// The first index is not known to be in range.
// CHECK-LABEL: @begins_anywhere
// CHECK: scf.for
// CHECK-COUNT-1: tt.dot
// CHECK-NOT: tt.dot
// CHECK: scf.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
tt.func public @begins_anywhere(%n: i32, %v: tensor<64x64xf16, #b>, %i: i32) -> tensor<64x64xf32, #mma> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ra = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rb = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %rc = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #sh, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %i) -> (tensor<64x64xf32, #mma>, i32) : i32 {
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
    scf.yield %d, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
// The same buffer in every iteration.
// CHECK-LABEL: @one_slot
// CHECK: ttg.memdesc_subslice
// CHECK: scf.for
// CHECK-COUNT-3: tt.dot
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @one_slot(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
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
    scf.yield %d, %s : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
// Four elements of a thread: a step is of two instructions.
// CHECK-LABEL: @wide
// CHECK: ttg.memdesc_subslice %{{.*}}[0, 0] : {{.*}} -> !ttg.memdesc<64x32xf16
// CHECK: scf.for
// CHECK-COUNT-2: tt.dot
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @wide(%n: i32, %v: tensor<64x64xf16, #b>) -> tensor<64x64xf32, #mma> {
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
    %u = ttg.local_load %a : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #x4>
    %w = ttg.local_load %b : !ttg.memdesc<64x64xf16, #sh, #smem, mutable> -> tensor<64x64xf16, #y4>
    %d = tt.dot %u, %w, %acc : tensor<64x64xf16, #x4> * tensor<64x64xf16, #y4> -> tensor<64x64xf32, #mma>
    scf.yield %d, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
}
