// tritongpu-pipeline: a loop with atomic operations in each iteration gets no stage that takes the memory of a second
// block. A stage is 32 KiB; three leave room for another block on a multiprocessor of sm_90a, four do not.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=4 --target sm_90a --remarks 2>&1 | FileCheck %s
// CHECK: remark: {{.*}}; 4 stages were requested: with fewer, a second block fits on a multiprocessor
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @adds(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<128x128xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
    %step = arith.constant dense<32> : tensor<128x128xi32, #blocked>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %i = tt.broadcast %r1 : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
    %log = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #acc>
    %d:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %q0, %sum = %zero) -> (tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf32, #acc>) : i32 {
      %v = tt.load %q : tensor<128x128x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %v : (tensor<128x128xf16, #blocked>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      %x = ttg.local_load %m : !ttg.memdesc<128x128xf16, #shared, #smem> -> tensor<128x128xf16, #a>
      %e = tt.dot %x, %y, %sum : tensor<128x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<128x128xf32, #acc>
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %log, %sum : (tensor<128x128x!tt.ptr<f32>, #acc>, tensor<128x128xf32, #acc>) -> tensor<128x128xf32, #acc>
      %q2 = tt.addptr %q, %step : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
      scf.yield %q2, %e : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #acc>
    tt.store %os, %d#1 : tensor<128x128x!tt.ptr<f32>, #acc>
    tt.return
  }
}
