// tritongpu-pipeline on sm_80: if one load of a loop is too narrow for asynchronous copies (4 bytes), all loads of the
// loop go through registers, one iteration ahead. From 48 narrow loads a thread on (pipelineNarrowLoads in
// ir/tuning.def) the loop is left as it is. Remarks name the load and what limits its accesses, in elements.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_80 | FileCheck %s
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_80 --remarks=LoopPipelined 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// 32 + 8 loads of 2 bytes.
// CHECK-LABEL: @few
// CHECK-NOT: async
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-2: tt.load
// CHECK: tt.dot
// CHECK-COUNT-2: ttg.local_store
// CHECK: scf.yield
// CHECK-NOT: async
// REMARK: remark: 2 of the loop's loads are issued 1 iteration ahead of their dots, through registers; {{.*}}; not by asynchronous copies: the load at {{.*}}.mlir:{{[0-9:]+}} has accesses of 2 bytes (contiguity 1, layout 8) [tritongpu-pipeline:LoopPipelined]

// 32 + 16.
// CHECK-LABEL: @many
// CHECK-NOT: async
// CHECK-NOT: local_store
// CHECK: scf.for
// CHECK-NEXT: tt.load
// CHECK-NOT: local_store
// REMARK: remark: the loop is not pipelined: threads would hold the values of 48 loads of less than 4 bytes; not by asynchronous copies: the load at {{.*}} has accesses of 2 bytes (contiguity 1, layout 8)

// The other load has 16 bytes, and goes through registers too.
// CHECK-LABEL: @one_is_wide
// CHECK-NOT: async
// CHECK: scf.for
// CHECK-COUNT-2: tt.load
// CHECK: tt.dot
// CHECK-COUNT-2: ttg.local_store
// CHECK-NOT: async
// REMARK: remark: 2 of the loop's loads {{.*}}, through registers; {{.*}} has accesses of 2 bytes (contiguity 8, mask 1, layout 8)

// The same loads, all wide.
// CHECK-LABEL: @all_are_wide
// CHECK: ttg.async_copy_global_to_local
// CHECK-NOT: tt.load
// REMARK: remark: 2 of the loop's loads {{.*}}, by asynchronous copies to shared memory; {{[^;]*}} bytes of shared memory [
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows16 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows32 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @few(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<2> : tensor<2xi32>, tt.contiguity = dense<1> : tensor<2xi32>}, %q: tensor<64x16x!tt.ptr<f16>, #rows16> {tt.divisibility = dense<2> : tensor<2xi32>, tt.contiguity = dense<1> : tensor<2xi32>}, %n: i32) -> tensor<64x16xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (tensor<64x16xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.load %q : tensor<64x16x!tt.ptr<f16>, #rows16>
      %ym = ttg.local_alloc %y : (tensor<64x16xf16, #rows16>) -> !ttg.memdesc<64x16xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x16xf16, #shared, #smem> -> tensor<64x16xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x16xf16, #b> -> tensor<64x16xf32, #mma>
      scf.yield %d : tensor<64x16xf32, #mma>
    }
    tt.return %r : tensor<64x16xf32, #mma>
  }
  tt.func public @many(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<2> : tensor<2xi32>, tt.contiguity = dense<1> : tensor<2xi32>}, %q: tensor<64x32x!tt.ptr<f16>, #rows32> {tt.divisibility = dense<2> : tensor<2xi32>, tt.contiguity = dense<1> : tensor<2xi32>}, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.load %q : tensor<64x32x!tt.ptr<f16>, #rows32>
      %ym = ttg.local_alloc %y : (tensor<64x32xf16, #rows32>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
  tt.func public @one_is_wide(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x16x!tt.ptr<f16>, #rows16> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 16]> : tensor<2xi32>}, %n: i32, %mask: tensor<64x16xi1, #rows16>) -> tensor<64x16xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (tensor<64x16xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.load %q, %mask : tensor<64x16x!tt.ptr<f16>, #rows16>
      %ym = ttg.local_alloc %y : (tensor<64x16xf16, #rows16>) -> !ttg.memdesc<64x16xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x16xf16, #shared, #smem> -> tensor<64x16xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x16xf16, #b> -> tensor<64x16xf32, #mma>
      scf.yield %d : tensor<64x16xf32, #mma>
    }
    tt.return %r : tensor<64x16xf32, #mma>
  }
  tt.func public @all_are_wide(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x32x!tt.ptr<f16>, #rows32> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.load %q : tensor<64x32x!tt.ptr<f16>, #rows32>
      %ym = ttg.local_alloc %y : (tensor<64x32xf16, #rows32>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}
