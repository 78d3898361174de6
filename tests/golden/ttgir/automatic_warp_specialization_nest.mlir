// A producer warp for loops inside of a loop over tiles, which copies for the next tile while one is stored.
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=3 -tritongpu-automatic-warp-specialization -canonicalize --verify-each | FileCheck %s
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=3 -tritongpu-automatic-warp-specialization -o %t --remarks=WarpsSpecialized 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: a producer warp issues the loop's copies, from one iteration of the loop around it to the next; the other 8 have 240 registers a thread
// REMARK: remark: the producer warp of the loop before issues this loop's copies, too, into the same buffers
// REMARK: remark: no producer warp issues the loop's copies: 'tt.store' at {{.*}} may write what 'tt.load' at {{.*}} reads
// REMARK: remark: no producer warp issues the loop's copies: addresses of copies depend on 'scf.for' at
// REMARK: remark: no producer warp issues the loop's copies: the loop around it has tessera.warp_specialize = false

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<128x128xf32, #mma>
!block = tensor<128x128xf16, #blocked>
!buffer = !ttg.memdesc<128x128xf16, #shared, #smem>
!desc = !tt.tensordesc<tensor<128x128xf16, #shared>>
!outs = tensor<128x128x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Buffer and phase continue from loop to loop and from tile to tile. The producer loads a tile's row itself.
  // CHECK-LABEL: @two_loops
  // CHECK: %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
  // CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
  // CHECK: %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
  // CHECK: ttg.warp_specialize(
  // CHECK: default {
  // CHECK: scf.for {{.*}} iter_args(%[[READ:.*]] = %c0_i32, %[[PHASE:.*]] = %c0_i32)
  // CHECK-NOT: ttng.barrier_expect
  // CHECK: %[[FIRST:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}}, %[[AT:.*]] = %[[READ]], %{{.*}} = %[[PHASE]])
  // CHECK: ttg.memdesc_index %[[FULL]][%[[AT]]]
  // CHECK: ttng.wait_barrier
  // CHECK: ttg.memdesc_index %[[BUFFERS]][%[[AT]]]
  // CHECK: ttg.memdesc_index %[[EMPTY]][%[[AT]]]
  // CHECK: ttng.arrive_barrier
  // CHECK: %[[SECOND:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1, %{{.*}} = %[[FIRST]]#2)
  // CHECK: tt.store
  // CHECK: scf.yield %[[SECOND]]#1, %[[SECOND]]#2
  // CHECK: ttg.warp_yield
  // CHECK: partition0(
  // CHECK: scf.for {{.*}} iter_args(%[[FILL:.*]] = %{{.*}}, %[[FILLED:.*]] = %{{.*}})
  // CHECK: tt.load
  // CHECK: ttg.memdesc_index %{{.*}}[%[[FILL]]]
  // CHECK: ttng.wait_barrier %{{.*}}, %[[FILLED]], %{{.*}} :
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttg.warp_return
  // CHECK: ttng.inval_barrier
  // CHECK: ttg.local_dealloc %[[BUFFERS]]
  // CHECK: tt.return
  tt.func public @two_loops(%k: !desc, %q: !buffer, %n: i32, %rows: !tt.ptr<i32>, %out: !outs) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    scf.for %t = %c0 to %n step %c1 : i32 {
      %p = tt.addptr %rows, %t : !tt.ptr<i32>, i32
      %row = tt.load %p : !tt.ptr<i32>
      %r = scf.for %i = %c0 to %t step %c128 iter_args(%acc = %zero) -> (!tile) : i32 {
        %y = arith.addi %row, %i : i32
        %x = tt.descriptor_load %k[%y, %c0] : !desc -> !block
        %b = ttg.local_alloc %x : (!block) -> !buffer
        %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
        %e = math.exp2 %s : !tile
        %d = arith.addf %e, %acc : !tile
        scf.yield %d : !tile
      } {tt.warp_specialize}
      %r2 = scf.for %i = %t to %n step %c128 iter_args(%acc = %r) -> (!tile) : i32 {
        %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
        %b = ttg.local_alloc %x : (!block) -> !buffer
        %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
        %d = arith.addf %s, %acc : !tile
        scf.yield %d : !tile
      }
      tt.store %out, %r2 : !outs
    }
    tt.return
  }

  // The producer would load a row before it is stored.
  // CHECK-LABEL: @rows_are_stored
  // CHECK-NOT: ttg.warp_specialize
  // CHECK: tt.return
  tt.func public @rows_are_stored(%k: !desc, %q: !buffer, %n: i32, %rows: !tt.ptr<i32>, %out: !outs) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    scf.for %t = %c0 to %n step %c1 : i32 {
      %p = tt.addptr %rows, %t : !tt.ptr<i32>, i32
      %row = tt.load %p : !tt.ptr<i32>
      %r = scf.for %i = %row to %n step %c128 iter_args(%acc = %zero) -> (!tile) : i32 {
        %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
        %b = ttg.local_alloc %x : (!block) -> !buffer
        %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
        %e = math.exp2 %s : !tile
        %d = arith.addf %e, %acc : !tile
        scf.yield %d : !tile
      } {tt.warp_specialize}
      tt.store %p, %c1 : !tt.ptr<i32>
      tt.store %out, %r : !outs
    }
    tt.return
  }

  // CHECK-LABEL: @results_as_rows
  // CHECK-NOT: ttg.warp_specialize
  // CHECK-LABEL: @forbidden
  // CHECK-NOT: ttg.warp_specialize
  // CHECK: tt.return
  tt.func public @results_as_rows(%k: !desc, %q: !buffer, %n: i32) -> i32 {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = scf.for %t = %c0 to %n step %c1 iter_args(%from = %c0) -> (i32) : i32 {
      %r, %to = scf.for %i = %from to %n step %c1 iter_args(%acc = %zero, %x = %from) -> (!tile, i32) : i32 {
        %l = tt.descriptor_load %k[%i, %c0] : !desc -> !block
        %b = ttg.local_alloc %l : (!block) -> !buffer
        %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
        %d = arith.addf %s, %acc : !tile
        %y = arith.addi %x, %i : i32
        scf.yield %d, %y : !tile, i32
      } {tt.warp_specialize}
      scf.yield %to : i32
    }
    tt.return %last : i32
  }
  tt.func public @forbidden(%k: !desc, %q: !buffer, %n: i32, %out: !outs) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %t = %c0 to %n step %c1 : i32 {
      %r = scf.for %i = %t to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
        %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
        %b = ttg.local_alloc %x : (!block) -> !buffer
        %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
        %d = arith.addf %s, %acc : !tile
        scf.yield %d : !tile
      } {tt.warp_specialize}
      tt.store %out, %r : !outs
    } {tessera.warp_specialize = false}
    tt.return
  }
}
