// An index that counts to 65,536, round more buffers than anybody has, is not followed all the way.
// RUN: tessera opt %s --target sm_90a -insert-barriers | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#other = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @ring
  // CHECK: scf.for
  // CHECK: ttg.local_store
  // CHECK: gpu.barrier
  // CHECK: ttg.local_load
  tt.func public @ring(%x: tensor<256xf32, #blocked>, %n: i32, %p: tensor<256x!tt.ptr<f32>, #other>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %many = arith.constant 65536 : i32
    %buffers = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<4x256xf32, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%write = %c2, %read = %c0) -> (i32, i32) : i32 {
      %b = ttg.memdesc_index %buffers[%write] : !ttg.memdesc<4x256xf32, #shared, #smem, mutable> -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
      ttg.local_store %x, %b : tensor<256xf32, #blocked> -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
      %a = ttg.memdesc_index %buffers[%read] : !ttg.memdesc<4x256xf32, #shared, #smem, mutable> -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
      %v = ttg.local_load %a : !ttg.memdesc<256xf32, #shared, #smem, mutable> -> tensor<256xf32, #other>
      tt.store %p, %v : tensor<256x!tt.ptr<f32>, #other>
      %w1 = arith.addi %write, %c1 : i32
      %w2 = arith.cmpi sge, %w1, %many : i32
      %w3 = arith.select %w2, %c0, %w1 : i32
      %r1 = arith.addi %read, %c1 : i32
      %r2 = arith.cmpi sge, %r1, %many : i32
      %r3 = arith.select %r2, %c0, %r1 : i32
      scf.yield %w3, %r3 : i32, i32
    }
    tt.return
  }
}
