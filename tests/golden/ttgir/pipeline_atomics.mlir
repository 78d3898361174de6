// tritongpu-pipeline in loops with atomic operations: loads are issued ahead of those whose result nobody uses, whatever
// their memory order is; from a used result, a thread may learn that other memory has changed.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_80 | FileCheck %s
// CHECK-LABEL: @adds
// CHECK-COUNT-2: ttg.async_commit_group
// CHECK: scf.for
// CHECK: ttg.async_copy_global_to_local
// CHECK: tt.atomic_rmw fadd, acq_rel
// CHECK: scf.yield
// CHECK-LABEL: @uses_what_it_replaced
// CHECK-NOT: async_copy
// CHECK: scf.for
// CHECK: tt.load
// CHECK: tt.atomic_rmw
//
// No stage takes the memory of a second block from a loop with atomic operations in each iteration. Blocks of 128 x 128
// have stages of 32 KiB: three leave room for another block on a multiprocessor of sm_90a, four do not.
// RUN: sed 's/32x32/128x128/g; s/tensor<32x/tensor<128x/g; s/<1x32x/<1x128x/g; s/end = 32/end = 128/' %s > %t
// RUN: tessera opt %t -tritongpu-pipeline=num-stages=4 --target sm_90a --remarks 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: remark: {{.*}}; 4 stages were requested: with fewer, a second block fits on a multiprocessor
// BLOCKS: ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @adds(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x32xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
    %step = arith.constant dense<32> : tensor<32x32xi32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %i = tt.broadcast %r1 : tensor<1x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %log = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    %d:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %q0, %sum = %zero) -> (tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>) : i32 {
      %v = tt.load %q : tensor<32x32x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %v : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %x = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
      %e = tt.dot %x, %y, %sum : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #acc>
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %log, %sum : (tensor<32x32x!tt.ptr<f32>, #acc>, tensor<32x32xf32, #acc>) -> tensor<32x32xf32, #acc>
      %q2 = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %q2, %e : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    tt.store %os, %d#1 : tensor<32x32x!tt.ptr<f32>, #acc>
    tt.return
  }

  tt.func public @uses_what_it_replaced(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x32xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
    %step = arith.constant dense<32> : tensor<32x32xi32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %i = tt.broadcast %r1 : tensor<1x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %log = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    %d:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %q0, %sum = %zero) -> (tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>) : i32 {
      %v = tt.load %q : tensor<32x32x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %v : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %x = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
      %e = tt.dot %x, %y, %sum : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #acc>
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %log, %sum : (tensor<32x32x!tt.ptr<f32>, #acc>, tensor<32x32xf32, #acc>) -> tensor<32x32xf32, #acc>
      %q2 = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      %g = arith.addf %e, %old : tensor<32x32xf32, #acc>
      scf.yield %q2, %g : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    tt.store %os, %d#1 : tensor<32x32x!tt.ptr<f32>, #acc>
    tt.return
  }
}
