// tritongpu-pipeline: copies of tensors with fewer elements than threads, which some threads issue, come behind those that
// all threads issue (@some). Otherwise copies are in the order of their loads (@all).
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_90a | FileCheck %s
// CHECK-LABEL: @some
// CHECK: scf.for
// CHECK: %[[A:.*]] = ttg.async_copy_global_to_local %arg0, {{.*}}tensor<64x64x!tt.ptr<bf16>
// CHECK: %[[B:.*]] = ttg.async_copy_global_to_local %arg1, {{.*}}tensor<64x64x!tt.ptr<bf16>
// CHECK: %[[M:.*]] = ttg.async_copy_global_to_local %arg2, {{.*}}tensor<64x!tt.ptr<f32>
// CHECK: ttg.async_commit_group tokens %[[A]], %[[B]], %[[M]]
// CHECK: scf.yield
// CHECK-LABEL: @all
// CHECK: scf.for
// CHECK: %[[A:.*]] = ttg.async_copy_global_to_local %arg0, {{.*}}tensor<64x64x!tt.ptr<bf16>
// CHECK: %[[M:.*]] = ttg.async_copy_global_to_local %arg2, {{.*}}tensor<64x64x!tt.ptr<bf16>
// CHECK: %[[B:.*]] = ttg.async_copy_global_to_local %arg1, {{.*}}tensor<64x64x!tt.ptr<bf16>
// CHECK: ttg.async_commit_group tokens %[[A]], %[[M]], %[[B]]
#k = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
!ptrs = tensor<64x64x!tt.ptr<bf16>, #k>
!block = tensor<64x64xbf16, #k>
!buffer = !ttg.memdesc<64x64xbf16, #shared, #smem>
!tile = tensor<64x64xf32, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @some(%a: !ptrs {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %b: !ptrs {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %m: tensor<64x!tt.ptr<f32>, #row> {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<64> : tensor<1xi32>}, %n: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %x = tt.load %a : !ptrs
      %s = tt.load %m : tensor<64x!tt.ptr<f32>, #row>
      %y = tt.load %b : !ptrs
      %xs = ttg.local_alloc %x : (!block) -> !buffer
      %ys = ttg.local_alloc %y : (!block) -> !buffer
      %d = ttng.warp_group_dot %xs, %ys, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %sc = ttg.convert_layout %s : tensor<64xf32, #row> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #mma}>>
      %s1 = tt.expand_dims %sc {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x64xf32, #mma>
      %sb = tt.broadcast %s1 : tensor<1x64xf32, #mma> -> !tile
      %p = arith.mulf %d, %sb : !tile
      %h = arith.truncf %p : !tile to tensor<64x64xbf16, #mma>
      %o = ttg.convert_layout %h : tensor<64x64xbf16, #mma> -> tensor<64x64xbf16, #dot0>
      %e = ttng.warp_group_dot %o, %ys, %acc {inputPrecision = 0 : i32} : tensor<64x64xbf16, #dot0> * !buffer -> !tile
      scf.yield %e : !tile
    }
    tt.return %r : !tile
  }
  tt.func public @all(%a: !ptrs {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %b: !ptrs {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %m: !ptrs {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %x = tt.load %a : !ptrs
      %s = tt.load %m : !ptrs
      %y = tt.load %b : !ptrs
      %xs = ttg.local_alloc %x : (!block) -> !buffer
      %ys = ttg.local_alloc %y : (!block) -> !buffer
      %d = ttng.warp_group_dot %xs, %ys, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %sc = ttg.convert_layout %s : !block -> tensor<64x64xbf16, #mma>
      %sb = arith.extf %sc : tensor<64x64xbf16, #mma> to !tile
      %p = arith.mulf %d, %sb : !tile
      %h = arith.truncf %p : !tile to tensor<64x64xbf16, #mma>
      %o = ttg.convert_layout %h : tensor<64x64xbf16, #mma> -> tensor<64x64xbf16, #dot0>
      %e = ttng.warp_group_dot %o, %ys, %acc {inputPrecision = 0 : i32} : tensor<64x64xbf16, #dot0> * !buffer -> !tile
      scf.yield %e : !tile
    }
    tt.return %r : !tile
  }
}
