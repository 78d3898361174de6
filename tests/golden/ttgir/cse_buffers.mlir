// cse: read-only buffers in shared memory that are filled from the same tensor are merged if the first is still read,
// and stay separate where merging would extend a lifetime or one is written.
// RUN: tessera opt %s --split-input-file -cse --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @read_together
  // CHECK-COUNT-1: ttg.local_alloc
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.return
  tt.func public @read_together(%x: tensor<32x16xf16, #blocked>) -> (tensor<32x16xf16, #blocked>, tensor<16x32xf16, #blocked>) {
    %a = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
    %b = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
    %t = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<32x16xf16, #shared, #smem> -> !ttg.memdesc<16x32xf16, #shared1, #smem>
    %v = ttg.local_load %t : !ttg.memdesc<16x32xf16, #shared1, #smem> -> tensor<16x32xf16, #blocked>
    %u = ttg.local_load %a : !ttg.memdesc<32x16xf16, #shared, #smem> -> tensor<32x16xf16, #blocked>
    tt.return %u, %v : tensor<32x16xf16, #blocked>, tensor<16x32xf16, #blocked>
  }

  // The first has been read when the second is filled: one buffer would live all the way.
  // CHECK-LABEL: @read_in_turn
  // CHECK-COUNT-2: ttg.local_alloc
  // CHECK: tt.return
  tt.func public @read_in_turn(%x: tensor<32x16xf16, #blocked>) -> (tensor<32x16xf16, #blocked>, tensor<32x16xf16, #blocked>) {
    %a = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
    %u = ttg.local_load %a : !ttg.memdesc<32x16xf16, #shared, #smem> -> tensor<32x16xf16, #blocked>
    %b = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
    %v = ttg.local_load %b : !ttg.memdesc<32x16xf16, #shared, #smem> -> tensor<32x16xf16, #blocked>
    tt.return %u, %v : tensor<32x16xf16, #blocked>, tensor<32x16xf16, #blocked>
  }

  // CHECK-LABEL: @written
  // CHECK-COUNT-2: ttg.local_alloc
  // CHECK: tt.return
  tt.func public @written(%x: tensor<32x16xf16, #blocked>, %y: tensor<32x16xf16, #blocked>) -> (tensor<32x16xf16, #blocked>, tensor<32x16xf16, #blocked>) {
    %a = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
    ttg.local_store %y, %b : tensor<32x16xf16, #blocked> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
    %u = ttg.local_load %a : !ttg.memdesc<32x16xf16, #shared, #smem, mutable> -> tensor<32x16xf16, #blocked>
    %v = ttg.local_load %b : !ttg.memdesc<32x16xf16, #shared, #smem, mutable> -> tensor<32x16xf16, #blocked>
    tt.return %u, %v : tensor<32x16xf16, #blocked>, tensor<32x16xf16, #blocked>
  }

  // A loop's own buffer and one from before it: the one before would live through the loop.
  // CHECK-LABEL: @across_blocks
  // CHECK: ttg.local_alloc
  // CHECK: scf.for
  // CHECK: ttg.local_alloc
  tt.func public @across_blocks(%x: tensor<32x16xf16, #blocked>, %n: i32, %o: tensor<32x16x!tt.ptr<f16>, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
    %u = ttg.local_load %a : !ttg.memdesc<32x16xf16, #shared, #smem> -> tensor<32x16xf16, #blocked>
    tt.store %o, %u : tensor<32x16x!tt.ptr<f16>, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %b = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
      %v = ttg.local_load %b : !ttg.memdesc<32x16xf16, #shared, #smem> -> tensor<32x16xf16, #blocked>
      tt.store %o, %v : tensor<32x16x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}
