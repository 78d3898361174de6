// tritongpu-pipeline: a loop of two iterations has no use for more than two stages.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=4 --target sm_80 --remarks 2>&1 | FileCheck %s
// CHECK: remark: {{.*}}; 4 stages were requested: the loop iterates 2 times
// CHECK-LABEL: @two_iterations
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
// CHECK: ttg.async_wait {{.*}}{num = 0 : i32}
// CHECK-LABEL: @any_number
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<4x32x32xf16
// CHECK: ttg.async_wait {{.*}}{num = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_iterations(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x32xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
    %step = arith.constant dense<32> : tensor<32x32xi32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %i = tt.broadcast %r1 : tensor<1x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %log = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    %d:2 = scf.for %k = %c0 to %c2 step %c1 iter_args(%q = %q0, %sum = %zero) -> (tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>) : i32 {
      %v = tt.load %q : tensor<32x32x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %v : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %x = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
      %e = tt.dot %x, %y, %sum : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #acc>
      %q2 = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %q2, %e : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    tt.store %os, %d#1 : tensor<32x32x!tt.ptr<f32>, #acc>
    tt.return
  }

  tt.func public @any_number(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x32xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
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
      %q2 = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %q2, %e : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #acc>
    tt.store %os, %d#1 : tensor<32x32x!tt.ptr<f32>, #acc>
    tt.return
  }
}
