// One producer warp issues the copies of three loops: each loop, and its copies, start at the buffer and in the phase at
// which the one before ended, even if that had no iteration. The third one needs a bound and a tensor that are computed
// between the first two.
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=3 -tritongpu-automatic-warp-specialization -canonicalize --verify-each | FileCheck %s
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=3 -tritongpu-automatic-warp-specialization -o %t --remarks=WarpsSpecialized 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: a producer warp issues the loop's copies; the other 8 have 240 registers a thread
// REMARK-COUNT-2: remark: the producer warp of the loop before issues this loop's copies, too, into the same buffers
// REMARK-NOT: remark

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<128x128xf32, #mma>
!block = tensor<128x128xf16, #blocked>
!buffer = !ttg.memdesc<128x128xf16, #shared, #smem>
!desc = !tt.tensordesc<tensor<128x128xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @three_loops
  // CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
  // CHECK-NOT: ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
  // CHECK: arith.addi %arg2, %arg3
  // CHECK: ttg.warp_specialize(
  // CHECK: default {
  // CHECK: %[[FIRST:.*]]:3 = scf.for
  // CHECK: %[[SECOND:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1, %{{.*}} = %[[FIRST]]#2)
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[FIRST]]#0
  // CHECK: %[[SUM:.*]] = arith.addf %[[SECOND]]#0, %[[SCALED]]
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]], %{{.*}} = %[[SECOND]]#1, %{{.*}} = %[[SECOND]]#2)
  // CHECK: ttg.warp_yield
  // CHECK: partition0(
  // CHECK: %[[A:.*]]:4 = scf.for
  // CHECK: ttng.wait_barrier %{{.*}}, %[[A]]#3
  // CHECK: %[[B:.*]]:4 = scf.for
  // CHECK: ttng.wait_barrier %{{.*}}, %[[B]]#3
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  // CHECK: tt.return
  tt.func public @three_loops(%k: !desc, %q: !buffer, %n: i32, %m: i32, %out: tensor<128x128x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %first = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tt.warp_specialize}
    %end = arith.addi %n, %m : i32
    %scaled = arith.mulf %first, %half : !tile
    %second = scf.for %i = %n to %m step %c128 iter_args(%acc = %first) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tt.warp_specialize}
    %sum = arith.addf %second, %scaled : !tile
    %third = scf.for %i = %m to %end step %c128 iter_args(%acc = %sum) -> (!tile) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !desc -> !block
      %b = ttg.local_alloc %x : (!block) -> !buffer
      %s = ttng.warp_group_dot %q, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %d = arith.addf %e, %acc : !tile
      scf.yield %d : !tile
    } {tt.warp_specialize}
    tt.store %out, %third : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }
}
