// Two buffers of 16 KiB would leave room for a second block, but not beside the scratch by which the loop's reduction
// goes through LDS: one buffer. Without the reduction there are two.
// RUN: tessera opt %s -tritongpu-pipeline="num-stages=2" --target gfx942 --remarks=LoopPipelined -o %t 2>&1 | FileCheck %s
// CHECK: 1 stage takes 16384 bytes of shared memory
// CHECK: 2 stages take 32768 bytes of shared memory
#load = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 4], instrShape = [16, 16, 16], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @sums(%x: tensor<16x64xf16, #a>, %p: tensor<64x128x!tt.ptr<f16>, #load>, %n: i32) -> tensor<16xf32, #row> {
    %zero = arith.constant dense<0.0> : tensor<16x128xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<16xf32, #row>
    %step = arith.constant dense<8192> : tensor<64x128xi32, #load>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %i0 to %n step %i1 iter_args(%acc = %none, %q = %p) -> (tensor<16xf32, #row>, tensor<64x128x!tt.ptr<f16>, #load>) : i32 {
      %v = tt.load %q : tensor<64x128x!tt.ptr<f16>, #load>
      %buffer = ttg.local_alloc %v : (tensor<64x128xf16, #load>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      %y = ttg.local_load %buffer : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
      %d = tt.dot %x, %y, %zero : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
      %s = "tt.reduce"(%d) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %w: f32):
        %z = arith.addf %u, %w : f32
        tt.reduce.return %z : f32
      }) : (tensor<16x128xf32, #mma>) -> tensor<16xf32, #row>
      %t = arith.addf %acc, %s : tensor<16xf32, #row>
      %q1 = tt.addptr %q, %step : tensor<64x128x!tt.ptr<f16>, #load>, tensor<64x128xi32, #load>
      scf.yield %t, %q1 : tensor<16xf32, #row>, tensor<64x128x!tt.ptr<f16>, #load>
    }
    tt.return %r#0 : tensor<16xf32, #row>
  }
  tt.func @no_sums(%x: tensor<16x64xf16, #a>, %p: tensor<64x128x!tt.ptr<f16>, #load>, %n: i32) -> tensor<16x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x128xf32, #mma>
    %step = arith.constant dense<8192> : tensor<64x128xi32, #load>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %i0 to %n step %i1 iter_args(%acc = %zero, %q = %p) -> (tensor<16x128xf32, #mma>, tensor<64x128x!tt.ptr<f16>, #load>) : i32 {
      %v = tt.load %q : tensor<64x128x!tt.ptr<f16>, #load>
      %buffer = ttg.local_alloc %v : (tensor<64x128xf16, #load>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      %y = ttg.local_load %buffer : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
      %q1 = tt.addptr %q, %step : tensor<64x128x!tt.ptr<f16>, #load>, tensor<64x128xi32, #load>
      scf.yield %d, %q1 : tensor<16x128xf32, #mma>, tensor<64x128x!tt.ptr<f16>, #load>
    }
    tt.return %r#0 : tensor<16x128xf32, #mma>
  }
}
