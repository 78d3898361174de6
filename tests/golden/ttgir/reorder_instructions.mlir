// tritongpu-reorder-instructions: dot operands are read from shared memory just before the dot, but not after an
// operation that may change the buffer.
// RUN: tessera opt %s -tritongpu-reorder-instructions --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Past a conversion, a wait, and writes of other buffers, with the elementwise work on the way.
  // CHECK-LABEL: @late
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NEXT: ttg.local_load {{.*}}opIdx = 1
  // CHECK-NEXT: ttg.local_load {{.*}}f16
  // CHECK-NEXT: arith.extf
  // CHECK-NEXT: tt.dot
  tt.func public @late(%x: tensor<64x64xf16, #a>, %y: tensor<64x64xf32, #a>, %c: tensor<64x64xf32, #a>) {
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #s, #smem>
    %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>>
    %1 = arith.extf %0 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>> to tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    ttg.local_store %y, %n : tensor<64x64xf32, #a> -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %2 = ttg.local_load %n : !ttg.memdesc<64x64xf32, #s, #smem, mutable> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>>
    %3 = ttg.convert_layout %c : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %w = ttg.async_wait {num = 0 : i32}
    %4 = tt.dot %1, %2, %3 : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>> * tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<64x64xf32, #b>
    tt.return
  }

  // The store may be to the same buffer: only one of them is known.
  // CHECK-LABEL: @stays
  // CHECK: ttg.local_load {{.*}}opIdx = 0
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.local_load {{.*}}opIdx = 1
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK-NEXT: tt.dot
  tt.func public @stays(%y: tensor<64x64xf32, #a>, %c: tensor<64x64xf32, #b>, %m: !ttg.memdesc<64x64xf32, #s, #smem, mutable>) {
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %0 = ttg.local_load %n : !ttg.memdesc<64x64xf32, #s, #smem, mutable> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>>
    ttg.local_store %y, %m : tensor<64x64xf32, #a> -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %1 = ttg.local_load %n : !ttg.memdesc<64x64xf32, #s, #smem, mutable> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>>
    ttg.local_dealloc %n : !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %2 = tt.dot %0, %1, %c : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>> * tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<64x64xf32, #b>
    tt.return
  }

  // A loop-invariant dot operand is read in each iteration if it takes many registers.
  // CHECK-LABEL: @in_loop
  // CHECK: ttg.local_load {{.*}}opIdx = 1
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttg.local_load {{.*}}opIdx = 0
  // CHECK-NEXT: tt.dot
  tt.func public @in_loop(%x: tensor<64x64xf32, #a>, %y: tensor<64x4xf32, #a>, %c: tensor<64x4xf32, #b>, %to: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %x : (tensor<64x64xf32, #a>) -> !ttg.memdesc<64x64xf32, #s, #smem>
    %0 = ttg.local_load %m : !ttg.memdesc<64x64xf32, #s, #smem> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x4xf32, #s, #smem, mutable>
    %1 = ttg.local_load %n : !ttg.memdesc<64x4xf32, #s, #smem, mutable> -> tensor<64x4xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>>
    %2 = scf.for %i = %c0 to %to step %c1 iter_args(%acc = %c) -> (tensor<64x4xf32, #b>) : i32 {
      %3 = tt.dot %0, %1, %acc : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>> * tensor<64x4xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<64x4xf32, #b>
      scf.yield %3 : tensor<64x4xf32, #b>
    }
    tt.return
  }
  // A conversion after the end of buffers, whose memory it may then have; one whose value is needed before stays.
  // CHECK-LABEL: @behind_the_end_of_buffers
  // CHECK: ttg.convert_layout %arg1
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK-NEXT: ttg.convert_layout %arg0
  // CHECK-NEXT: arith.mulf
  tt.func @behind_the_end_of_buffers(%x: tensor<64x64xf32, #a>, %y: tensor<64x64xf32, #a>) -> tensor<64x64xf32, #b> {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %0 = ttg.convert_layout %x : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %1 = ttg.convert_layout %y : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %2 = arith.addf %1, %1 : tensor<64x64xf32, #b>
    ttg.local_dealloc %m : !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    ttg.local_dealloc %n : !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %3 = arith.mulf %0, %2 : tensor<64x64xf32, #b>
    tt.return %3 : tensor<64x64xf32, #b>
  }

  // No load moves after an arrival, after which another warp may write the buffer, nor after what a second dot reads again.
  // CHECK-LABEL: @not_behind_an_arrival
  // CHECK: ttg.local_load {{.*}}opIdx = 0
  // CHECK: ttng.arrive_barrier
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: ttg.local_load {{.*}}opIdx = 1
  // CHECK-NEXT: ttg.local_load {{.*}}opIdx = 0
  // CHECK-NEXT: tt.dot
  // CHECK-NEXT: tt.dot
  tt.func @not_behind_an_arrival(%x: tensor<64x64xf32, #a>, %c: tensor<64x64xf32, #a>, %bar: !ttg.memdesc<1xi64, #s1, #smem, mutable>) {
    %m = ttg.local_alloc %x : (tensor<64x64xf32, #a>) -> !ttg.memdesc<64x64xf32, #s, #smem>
    %0 = ttg.local_load %m : !ttg.memdesc<64x64xf32, #s, #smem> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>>
    ttng.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    %1 = ttg.local_load %m : !ttg.memdesc<64x64xf32, #s, #smem> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>>
    %2 = ttg.local_load %m : !ttg.memdesc<64x64xf32, #s, #smem> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>>
    %3 = ttg.convert_layout %c : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %4 = tt.dot %2, %1, %3 : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>> * tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<64x64xf32, #b>
    %5 = tt.dot %0, %1, %4 : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #b}>> * tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<64x64xf32, #b>
    tt.return
  }

  // The first copies of a loop do not wait for the value that fills another buffer of it.
  // CHECK-LABEL: @filled_after_the_copies
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.async_commit_group
  // CHECK-NEXT: ttg.local_alloc %arg0
  // CHECK-NEXT: scf.for
  tt.func @filled_after_the_copies(%x: tensor<64x64xf32, #a>, %p: tensor<64x64x!tt.ptr<f32>, #a>, %n: i32) -> tensor<64x64xf32, #a> {
    %q = ttg.local_alloc %x : (tensor<64x64xf32, #a>) -> !ttg.memdesc<64x64xf32, #s, #smem>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x64x!tt.ptr<f32>, #a> -> <64x64xf32, #s, #smem, mutable>
    ttg.async_commit_group
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> (tensor<64x64xf32, #a>) : i32 {
      ttg.async_wait {num = 0 : i32}
      %y = ttg.local_load %q : !ttg.memdesc<64x64xf32, #s, #smem> -> tensor<64x64xf32, #a>
      %z = ttg.local_load %m : !ttg.memdesc<64x64xf32, #s, #smem, mutable> -> tensor<64x64xf32, #a>
      %s = arith.addf %y, %z : tensor<64x64xf32, #a>
      %u = arith.addf %s, %acc : tensor<64x64xf32, #a>
      scf.yield %u : tensor<64x64xf32, #a>
    }
    tt.return %r : tensor<64x64xf32, #a>
  }
}
