// tritongpu-prefetch: MFMA that accumulate over the loop read their first operands an iteration ahead; those that start
// from zero in each iteration, whose result is converted and added, do not.
// RUN: tessera opt %s -tritongpu-prefetch | FileCheck %s

#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 64], isTransposed = true}>
#x = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#y = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
#sh = #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#st = #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
// CHECK-LABEL: @accumulated
// CHECK: scf.for
// CHECK-COUNT-2: tt.dot
// CHECK: ttg.local_load
// CHECK: scf.yield
tt.func public @accumulated(%n: i32) -> tensor<64x64xi32, #mma> {
  %zero = arith.constant dense<0> : tensor<64x64xi32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x128xi8, #sh, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<2x128x64xi8, #st, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %c0) -> (tensor<64x64xi32, #mma>, i32) : i32 {
    %s1 = arith.addi %s, %c1 : i32
    %ge = arith.cmpi sge, %s1, %c2 : i32
    %s2 = arith.select %ge, %c0, %s1 : i32
    %as = ttg.memdesc_index %a[%s] : !ttg.memdesc<2x64x128xi8, #sh, #smem, mutable> -> !ttg.memdesc<64x128xi8, #sh, #smem, mutable>
    %bs = ttg.memdesc_index %b[%s] : !ttg.memdesc<2x128x64xi8, #st, #smem, mutable> -> !ttg.memdesc<128x64xi8, #st, #smem, mutable>
    %u = ttg.local_load %as : !ttg.memdesc<64x128xi8, #sh, #smem, mutable> -> tensor<64x128xi8, #x>
    %v = ttg.local_load %bs : !ttg.memdesc<128x64xi8, #st, #smem, mutable> -> tensor<128x64xi8, #y>
    %d = tt.dot %u, %v, %acc : tensor<64x128xi8, #x> * tensor<128x64xi8, #y> -> tensor<64x64xi32, #mma>
    scf.yield %d, %s2 : tensor<64x64xi32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xi32, #mma>
}
// CHECK-LABEL: @added
// CHECK: scf.for
// CHECK: tt.dot
// CHECK-NOT: tt.dot
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @added(%n: i32) -> tensor<64x64xf32, #mma> {
  %none = arith.constant dense<0> : tensor<64x64xi32, #mma>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x128xi8, #sh, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<2x128x64xi8, #st, #smem, mutable>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
    %s1 = arith.addi %s, %c1 : i32
    %ge = arith.cmpi sge, %s1, %c2 : i32
    %s2 = arith.select %ge, %c0, %s1 : i32
    %as = ttg.memdesc_index %a[%s] : !ttg.memdesc<2x64x128xi8, #sh, #smem, mutable> -> !ttg.memdesc<64x128xi8, #sh, #smem, mutable>
    %bs = ttg.memdesc_index %b[%s] : !ttg.memdesc<2x128x64xi8, #st, #smem, mutable> -> !ttg.memdesc<128x64xi8, #st, #smem, mutable>
    %u = ttg.local_load %as : !ttg.memdesc<64x128xi8, #sh, #smem, mutable> -> tensor<64x128xi8, #x>
    %v = ttg.local_load %bs : !ttg.memdesc<128x64xi8, #st, #smem, mutable> -> tensor<128x64xi8, #y>
    %d = tt.dot %u, %v, %none : tensor<64x128xi8, #x> * tensor<128x64xi8, #y> -> tensor<64x64xi32, #mma>
    %f = arith.sitofp %d : tensor<64x64xi32, #mma> to tensor<64x64xf32, #mma>
    %sum = arith.addf %acc, %f : tensor<64x64xf32, #mma>
    scf.yield %sum, %s2 : tensor<64x64xf32, #mma>, i32
  }
  tt.return %r#0 : tensor<64x64xf32, #mma>
}
}
