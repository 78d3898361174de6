// One producer warp issues the copies of two loops, which use the same buffers one after the other.
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=3 -tritongpu-automatic-warp-specialization -canonicalize | FileCheck %s
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=3 -tritongpu-automatic-warp-specialization -o %t --remarks=WarpsSpecialized 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: a producer warp issues the loop's copies; the other 8 have 240 registers a thread
// REMARK: remark: the producer warp of the loop before issues this loop's copies, too, into the same buffers
// REMARK: remark: a producer warp issues the loop's copies
// REMARK: remark: no producer warp issues the loop's copies: another loop of the kernel has a warp for its copies

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<128x128xf32, #mma>
!block = tensor<128x128xf16, #blocked>
!buffer = !ttg.memdesc<128x128xf16, #shared, #smem>
!desc = !tt.tensordesc<tensor<128x128xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The second loop starts at the buffer and in the phase at which the first one ended, and what its copies need is
  // computed before both.
  // CHECK-LABEL: @two_loops
  // CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
  // CHECK-NOT: ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
  // CHECK: %[[FROM:.*]] = arith.addi %arg2, %arg2
  // CHECK: %[[R:.*]] = ttg.warp_specialize(
  // CHECK: default {
  // CHECK: %[[FIRST:.*]]:3 = scf.for {{.*}} to %arg2 step
  // CHECK: ttng.arrive_barrier
  // CHECK: scf.for {{.*}} = %arg2 to %[[FROM]] step {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %[[READ:.*]] = %[[FIRST]]#1, %[[PHASE:.*]] = %[[FIRST]]#2)
  // CHECK: %[[FULL:.*]] = ttg.memdesc_index %{{.*}}[%[[READ]]]
  // CHECK: ttng.wait_barrier %[[FULL]], %[[PHASE]]
  // CHECK: ttg.memdesc_index %[[BUFFERS]][%[[READ]]]
  // CHECK: ttng.arrive_barrier
  // CHECK: ttg.warp_yield
  // CHECK: partition0(
  // CHECK: %[[LOOP:.*]]:4 = scf.for
  // CHECK: scf.yield
  // The first two copies of the second loop, into the buffers that come next.
  // CHECK: %[[EMPTY:.*]] = ttg.memdesc_index %{{.*}}[%[[LOOP]]#2]
  // CHECK: ttng.wait_barrier %[[EMPTY]], %[[LOOP]]#3, %[[ANY:.*]] :
  // CHECK: ttng.barrier_expect %{{.*}}, 32768, %[[ANY]]
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttg.warp_return
  // CHECK: tt.store {{.*}}, %[[R]]
  // CHECK-NOT: ttng.wait_barrier
  // CHECK: tt.return
  tt.func public @two_loops(%k: !desc, %q: !buffer, %n: i32, %out: tensor<128x128x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tt.warp_specialize}
    %end = arith.addi %n, %n : i32
    %r2 = scf.for %i = %n to %end step %c128 iter_args(%acc = %r) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %d = arith.addf %s, %acc : !tile
      scf.yield %d : !tile
    }
    tt.store %out, %r2 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }

  // What is stored between the loops comes between them.
  // CHECK-LABEL: @store_between
  // CHECK: ttg.warp_specialize(
  // CHECK: tt.store
  // CHECK: scf.for
  // CHECK: tt.store
  tt.func public @store_between(%k: !desc, %q: !buffer, %n: i32, %out: tensor<128x128x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tt.warp_specialize}
    tt.store %out, %r : tensor<128x128x!tt.ptr<f32>, #mma>
    %r2 = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %r) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    }
    tt.store %out, %r2 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }

  // The second loop says so.
  // CHECK-LABEL: @forbidden
  // CHECK: ttg.warp_specialize(
  // CHECK: default
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  // CHECK: ttg.warp_yield
  tt.func public @forbidden(%k: !desc, %q: !buffer, %n: i32, %out: tensor<128x128x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tt.warp_specialize}
    %r2 = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %r) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tessera.warp_specialize = false}
    tt.store %out, %r2 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }
}
