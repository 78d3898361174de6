// Loops without dots are pipelined if they load through descriptors that are bulk copies.
// RUN: tessera opt %s -tritongpu-pipeline --target sm_90a --verify-each | FileCheck %s
// RUN: tessera opt %s -tritongpu-pipeline --target sm_90a --remarks='tritongpu-pipeline.*' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!desc = !tt.tensordesc<tensor<64x32xf32, #shared>>
!tile = tensor<64x32xf32, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rows
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<4x64x32xf32,
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttg.local_load
  // CHECK: tt.descriptor_store
  // REMARK: 1 of the loop's loads are issued 3 iterations ahead, by asynchronous copies to shared memory; 4 stages take 32768 bytes
  tt.func public @rows(%x: !desc, %y: !desc, %lb: i32, %ub: i32, %step: i32) {
    %c0 = arith.constant 0 : i32
    scf.for %i = %lb to %ub step %step : i32 {
      %v = tt.descriptor_load %x[%i, %c0] : !desc -> !tile
      %e = math.exp %v : !tile
      tt.descriptor_store %y[%i, %c0], %e : !desc, !tile
    } {tt.num_stages = 4 : i32}
    tt.return
  }
  // A sum along rows, with the default number of stages.
  // CHECK-LABEL: @sum
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf32,
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier
  // REMARK: 1 of the loop's loads are issued 2 iterations ahead, by asynchronous copies to shared memory; 3 stages take 24576 bytes
  tt.func public @sum(%x: !desc, %ub: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : !tile
    %s = scf.for %i = %c0 to %ub step %c32 iter_args(%acc = %zero) -> (!tile) : i32 {
      %v = tt.descriptor_load %x[%c0, %i] : !desc -> !tile
      %n = arith.addf %acc, %v : !tile
      scf.yield %n : !tile
    }
    tt.return %s : !tile
  }
  // The second of several buffers of 4 rows would begin within a repeat of the swizzle, which takes 8 rows.
  // CHECK-LABEL: @narrow
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.descriptor_load
  tt.func public @narrow(%x: !tt.tensordesc<tensor<4x32xf32, #shared>>, %ub: i32) -> tensor<4x32xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<4x32xf32, #blocked>
    %s = scf.for %i = %c0 to %ub step %c32 iter_args(%acc = %zero) -> (tensor<4x32xf32, #blocked>) : i32 {
      %v = tt.descriptor_load %x[%c0, %i] : !tt.tensordesc<tensor<4x32xf32, #shared>> -> tensor<4x32xf32, #blocked>
      %n = arith.addf %acc, %v : tensor<4x32xf32, #blocked>
      scf.yield %n : tensor<4x32xf32, #blocked>
    }
    tt.return %s : tensor<4x32xf32, #blocked>
  }
  // What an iteration stores, the next one may load.
  // CHECK-LABEL: @in_place
  // CHECK: scf.for
  // CHECK: tt.descriptor_load
  // REMARK: the loop is not pipelined: 'tt.descriptor_store' at {{.*}} may write what 'tt.descriptor_load'
  tt.func public @in_place(%x: !desc, %lb: i32, %ub: i32, %step: i32) {
    %c0 = arith.constant 0 : i32
    scf.for %i = %lb to %ub step %step : i32 {
      %v = tt.descriptor_load %x[%i, %c0] : !desc -> !tile
      %e = math.exp %v : !tile
      tt.descriptor_store %x[%i, %c0], %e : !desc, !tile
    } {tt.num_stages = 4 : i32}
    tt.return
  }
  // The inner loop alone.
  // CHECK-LABEL: @nested
  // CHECK: tt.descriptor_load
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf32,
  // REMARK: the loop is not pipelined: it contains 'scf.for' at {{[^ ]*}}pipeline_bulk_copies_without_dots.mlir:
  // REMARK: 1 of the loop's loads are issued 2 iterations ahead
  tt.func public @nested(%x: !desc, %y: !desc, %ub: i32) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    scf.for %i = %c0 to %ub step %c32 : i32 {
      %v = tt.descriptor_load %x[%i, %c0] : !desc -> !tile
      %s = scf.for %j = %c0 to %ub step %c32 iter_args(%acc = %v) -> (!tile) : i32 {
        %w = tt.descriptor_load %x[%i, %j] : !desc -> !tile
        %n = arith.addf %acc, %w : !tile
        scf.yield %n : !tile
      }
      tt.descriptor_store %y[%i, %c0], %s : !desc, !tile
    }
    tt.return
  }
}
