// tritongpu-pipeline: a load of narrow accesses, whose value threads compute with, stays in the iteration where other
// loads can be copied asynchronously (@in_place). Not if it goes to a buffer as it is, nor if nothing else is copied into
// a buffer: then all loads go through registers (pipeline_narrow_loads.mlir, @alone).
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_90a | FileCheck %s
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_90a --remarks=LoopPipelined 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @in_place
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xbf16
// CHECK-COUNT-2: ttg.async_copy_global_to_local
// CHECK: scf.for
// CHECK: ttg.async_wait
// CHECK: tt.load {{.*}} : tensor<32x64x!tt.ptr<bf16>
// CHECK: ttng.warp_group_dot
// CHECK: ttg.async_copy_global_to_local
// CHECK-NOT: ttg.local_store
// CHECK: scf.yield
// REMARK: remark: 1 of the loop's loads are issued 2 iterations ahead of their dots, by asynchronous copies to shared memory; {{.*}}; 1 more stays in the iteration: the load at {{.*}} has accesses of 2 bytes (contiguity 1, layout 16) [tritongpu-pipeline:LoopPipelined]

// CHECK-LABEL: @alone
// CHECK-NOT: async_copy
// CHECK: tt.load
// CHECK: scf.for
// CHECK: tt.load
// REMARK: remark: 1 of the loop's loads are issued 1 iteration ahead of their dots, through registers
#k = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @in_place(%a: tensor<64x32x!tt.ptr<bf16>, #k> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %z: tensor<32x64x!tt.ptr<bf16>, #rows> {tt.divisibility = dense<2> : tensor<2xi32>, tt.contiguity = dense<1> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<bf16>, #k>
      %m = ttg.local_alloc %x : (tensor<64x32xbf16, #k>) -> !ttg.memdesc<64x32xbf16, #shared, #smem>
      %y = tt.load %z : tensor<32x64x!tt.ptr<bf16>, #rows>
      %w = arith.mulf %y, %y : tensor<32x64xbf16, #rows>
      %b = ttg.local_alloc %w : (tensor<32x64xbf16, #rows>) -> !ttg.memdesc<32x64xbf16, #shared1, #smem>
      %d = ttng.warp_group_dot %m, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xbf16, #shared, #smem> * !ttg.memdesc<32x64xbf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func public @alone(%m: !ttg.memdesc<64x32xbf16, #shared, #smem>, %z: tensor<32x64x!tt.ptr<bf16>, #rows> {tt.divisibility = dense<2> : tensor<2xi32>, tt.contiguity = dense<1> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %y = tt.load %z : tensor<32x64x!tt.ptr<bf16>, #rows>
      %w = arith.mulf %y, %y : tensor<32x64xbf16, #rows>
      %b = ttg.local_alloc %w : (tensor<32x64xbf16, #rows>) -> !ttg.memdesc<32x64xbf16, #shared1, #smem>
      %d = ttng.warp_group_dot %m, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xbf16, #shared, #smem> * !ttg.memdesc<32x64xbf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
