// Accumulators of dots get buffers in tensor memory, and each dot an arrival at an mbarrier.
// RUN: tessera opt %s -dots-in-tensor-memory -canonicalize -cse --target sm_100a | FileCheck %s
// Nothing on targets without tensor memory:
// RUN: tessera opt %s -dots-in-tensor-memory --target sm_90a | FileCheck %s --check-prefix=NONE
// NONE-NOT: tmem
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#square = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 0]], block = []}>
#smem = #ttg.shared_memory
!left = !ttg.memdesc<128x64xf16, #a, #smem, mutable>
!right = !ttg.memdesc<64x64xf16, #a, #smem, mutable>
!acc = tensor<128x64xf32, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Stays in tensor memory while the loop runs; the first dot does not add. The loop need not iterate.
  // CHECK-LABEL: @accumulates
  // CHECK: %[[ACC:.*]] = ttng.tmem_alloc
  // CHECK-NOT: ttng.tmem_store
  // CHECK: ttng.init_barrier %[[BAR:.*]], 1
  // CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[PHASE:.*]] = %c0_i32, %[[ADDS:.*]] = %false) -> (i32, i1)
  // CHECK-NEXT: ttng.tc_gen5_mma %{{.*}}, %{{.*}}, %[[ACC]], %[[ADDS]], %true, %[[BAR]][%true] {is_async}
  // CHECK-NEXT: ttng.wait_barrier %[[BAR]], %[[PHASE]]
  // CHECK-NEXT: %[[NEXT:.*]] = arith.xori %[[PHASE]], %c1_i32
  // CHECK-NEXT: scf.yield %[[NEXT]], %true
  // CHECK: ttng.inval_barrier %[[BAR]]
  // CHECK: scf.if %[[R]]#1
  // CHECK-NEXT: ttng.tmem_load %[[ACC]]
  tt.func public @accumulates(%a: !left, %b: !right, %n: i32) -> !acc {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !acc
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (!acc) : i32 {
      %d = ttng.warp_group_dot %a, %b, %c : !left * !right -> !acc
      scf.yield %d : !acc
    }
    tt.return %r : !acc
  }
  // One dot stays in flight: the arrivals of two iterations are at two mbarriers.
  // CHECK-LABEL: @in_flight
  // CHECK: %[[ACC:.*]] = ttng.tmem_alloc
  // CHECK: %[[BARS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK: scf.for {{.*}} iter_args(%[[COUNT:.*]] = %c0_i32, %[[ADDS:.*]] = %false)
  // CHECK: ttng.tc_gen5_mma %{{.*}}, %[[ACC]], %[[ADDS]], %true {is_async}
  // CHECK-NEXT: %[[TURN:.*]] = arith.andi %[[COUNT]], %c1_i32
  // CHECK-NEXT: %[[NOW:.*]] = ttg.memdesc_index %[[BARS]][%[[TURN]]]
  // CHECK-NEXT: ttng.tc_gen5_commit %[[NOW]]
  // CHECK: arith.subi %[[COUNT]], %c1_i32
  // CHECK: ttng.wait_barrier
  // CHECK: scf.yield
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.inval_barrier
  // CHECK: ttng.inval_barrier
  // CHECK: ttng.tmem_load %[[ACC]]
  tt.func public @in_flight(%a: !left, %b: !right, %n: i32) -> !acc {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !acc
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (!acc) : i32 {
      %d = ttng.warp_group_dot %a, %b, %c {isAsync = true} : !left * !right -> !acc
      %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : !acc
      scf.yield %w : !acc
    }
    %l = ttng.warp_group_dot_wait %r {pendings = 0 : i32} : !acc
    tt.return %l : !acc
  }
  // Scaled in the loop: it waits in tensor memory for the next iteration, which loads it where it is needed. The other
  // dot begins with zeros, and has another buffer.
  // CHECK-LABEL: @scales
  // CHECK-DAG: %[[S:.*]] = ttng.tmem_alloc
  // CHECK-DAG: ttng.tmem_store %cst, %[[ACC:.*]], %true
  // CHECK: scf.for
  // CHECK: ttng.tc_gen5_mma {{.*}}, %false, %true
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK: ttng.tmem_load
  // CHECK: %[[OLD:.*]] = ttng.tmem_load %[[ACC]]
  // CHECK-NEXT: %[[NEW:.*]] = arith.mulf %[[OLD]]
  // CHECK-NEXT: ttng.tmem_store %[[NEW]], %[[ACC]], %true
  // CHECK-NEXT: ttng.tc_gen5_mma {{.*}}, %[[ACC]], %true, %true
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: }
  // CHECK: ttng.inval_barrier
  // CHECK: ttng.tmem_load %[[ACC]]
  tt.func public @scales(%a: !left, %b: !right, %n: i32) -> !acc {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !acc
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (!acc) : i32 {
      %s = ttng.warp_group_dot %a, %b, %zero : !left * !right -> !acc
      %m = arith.mulf %c, %s : !acc
      %d = ttng.warp_group_dot %a, %b, %m : !left * !right -> !acc
      scf.yield %d : !acc
    }
    tt.return %r : !acc
  }
  // Outside of loops, with another dot that adds to it: stored before the first, loaded after the last.
  // CHECK-LABEL: @straight
  // CHECK: ttng.tmem_store %arg
  // CHECK: ttng.tc_gen5_mma {{.*}}, %true, %true
  // CHECK-NEXT: ttng.wait_barrier %{{.*}}, %c0_i32
  // CHECK-NEXT: ttng.tc_gen5_mma
  // CHECK-NEXT: ttng.wait_barrier %{{.*}}, %c1_i32
  // CHECK: ttng.tmem_load
  tt.func public @straight(%a: !left, %b: !right, %c: !acc) -> !acc {
    %d = ttng.warp_group_dot %a, %b, %c : !left * !right -> !acc
    %e = ttng.warp_group_dot %a, %b, %d : !left * !right -> !acc
    tt.return %e : !acc
  }
  // Operands that only dots read end after the wait for these: in the block of the loop, and after the loop if their
  // buffer is outside of it. They are mutable then. A buffer that a load reads, too, does not end.
  // CHECK-LABEL: @operands
  // CHECK: %[[OUTSIDE:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<128x64xf16, #{{.*}}, mutable>
  // CHECK: %[[READ:.*]] = ttg.local_alloc
  // CHECK: scf.for
  // CHECK: ttng.tc_gen5_mma %[[OUTSIDE]], %[[READ]]
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK: %[[INSIDE:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<128x64xf16, #{{.*}}, mutable>
  // CHECK: ttng.tc_gen5_mma %[[INSIDE]], %[[READ]]
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.local_dealloc %[[INSIDE]]
  // CHECK: scf.yield
  // CHECK: }
  // CHECK-NEXT: ttg.local_dealloc %[[OUTSIDE]]
  // CHECK-NOT: ttg.local_dealloc %[[READ]]
  tt.func public @operands(%x: tensor<128x64xf16, #rows>, %y: tensor<64x64xf16, #square>, %n: i32) -> (!acc, tensor<64x64xf16, #square>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !acc
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #a, #smem>
    %b = ttg.local_alloc %y : (tensor<64x64xf16, #square>) -> !ttg.memdesc<64x64xf16, #a, #smem>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (!acc) : i32 {
      %s = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<128x64xf16, #a, #smem> * !ttg.memdesc<64x64xf16, #a, #smem> -> !acc
      %p = arith.truncf %s : !acc to tensor<128x64xf16, #rows>
      %q = ttg.local_alloc %p : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #a, #smem>
      %d = ttng.warp_group_dot %q, %b, %c : !ttg.memdesc<128x64xf16, #a, #smem> * !ttg.memdesc<64x64xf16, #a, #smem> -> !acc
      scf.yield %d : !acc
    }
    %l = ttg.local_load %b : !ttg.memdesc<64x64xf16, #a, #smem> -> tensor<64x64xf16, #square>
    tt.return %r, %l : !acc, tensor<64x64xf16, #square>
  }
  // CHECK-LABEL: @no_dots
  // CHECK-NEXT: tt.return
  tt.func public @no_dots() {
    tt.return
  }
}
