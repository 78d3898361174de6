// tritongpu-pipeline, through registers: loads two iterations ahead are masked by whether that iteration exists, unless
// their own mask is false after the loop's end: what is left of K, in steps of 32, is then zero or less.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target gfx942 --split-input-file | FileCheck %s
// CHECK-LABEL: @rest_of_k
// CHECK: scf.for
// CHECK: %[[LEFT:.*]] = arith.cmpi slt
// CHECK-NOT: arith.andi
// CHECK: tt.load {{.*}}, %{{.*}}, %
// CHECK: tt.return
// CHECK-LABEL: @rest_of_another
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.andi
// CHECK: tt.load {{.*}}, %[[MASK]], %
// CHECK: tt.return
// CHECK-LABEL: @columns_may_be_negative
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.andi
// CHECK: tt.load {{.*}}, %[[MASK]], %
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @rest_of_k(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: i32, %J: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %other = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %i = tt.broadcast %columns : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %sum = arith.addi %K, %c31 : i32
    %n = arith.divsi %sum, %c32 : i32
    %d:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %q0, %z = %acc) -> (tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %done = arith.muli %k, %c32 : i32
      %left = arith.subi %K, %done : i32
      %lefts = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %m = arith.cmpi slt, %columns, %lefts : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %m : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %q, %mask, %other : tensor<64x32x!tt.ptr<f16>, #blocked>
      %buffer = ttg.local_alloc %v : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %x = ttg.local_load %buffer : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #a>
      %e = tt.dot %x, %y, %z : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %q2 = tt.addptr %q, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %q2, %e : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %os, %d#1 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
// -----
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @rest_of_another(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: i32, %J: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %other = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %i = tt.broadcast %columns : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %sum = arith.addi %K, %c31 : i32
    %n = arith.divsi %sum, %c32 : i32
    %d:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %q0, %z = %acc) -> (tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %done = arith.muli %k, %c32 : i32
      %left = arith.subi %J, %done : i32
      %lefts = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %m = arith.cmpi slt, %columns, %lefts : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %m : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %q, %mask, %other : tensor<64x32x!tt.ptr<f16>, #blocked>
      %buffer = ttg.local_alloc %v : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %x = ttg.local_load %buffer : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #a>
      %e = tt.dot %x, %y, %z : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %q2 = tt.addptr %q, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %q2, %e : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %os, %d#1 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
// -----
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @columns_may_be_negative(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: i32, %J: i32, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %other = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %by = tt.splat %J : i32 -> tensor<1x32xi32, #blocked>
    %moved = arith.addi %columns, %by : tensor<1x32xi32, #blocked>
    %i = tt.broadcast %columns : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %q0 = tt.addptr %s, %i : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %sum = arith.addi %K, %c31 : i32
    %n = arith.divsi %sum, %c32 : i32
    %d:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %q0, %z = %acc) -> (tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %done = arith.muli %k, %c32 : i32
      %left = arith.subi %K, %done : i32
      %lefts = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %m = arith.cmpi slt, %moved, %lefts : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %m : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %q, %mask, %other : tensor<64x32x!tt.ptr<f16>, #blocked>
      %buffer = ttg.local_alloc %v : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %x = ttg.local_load %buffer : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #a>
      %e = tt.dot %x, %y, %z : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %q2 = tt.addptr %q, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %q2, %e : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %os, %d#1 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
