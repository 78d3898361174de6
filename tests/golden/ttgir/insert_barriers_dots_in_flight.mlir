// Dots in flight across an iteration's end read their buffers until the next iteration's first wait. With a buffer that
// neither of the two uses, what is copied next needs no barrier; without one, another warp's dot may still read it.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_90a --verify-each | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf32, #mma>
!half = tensor<64x64xf16, #mma>
!left = tensor<64x64xf16, #dot0>
!ptrs = tensor<64x64x!tt.ptr<f16>, #blocked>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!view = !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @spare_buffer
  // CHECK: ttg.async_wait
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.yield
  tt.func public @spare_buffer(%k: !left, %from: !ptrs, %n: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ahead = arith.constant 2 : i32
    %buffers = arith.constant 4 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable>
    %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %r = %c0, %f = %ahead) -> (!tile, i32, i32) : i32 {
      %copied = ttg.async_wait {num = 1 : i32}
      %q = ttg.memdesc_index %b[%r] : !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable> -> !buffer
      %qt = ttg.memdesc_trans %q {order = array<i32: 1, 0>} : !buffer -> !view
      %s = ttng.warp_group_dot %k, %qt, %zero {inputPrecision = 0 : i32, isAsync = true} : !left * !view -> !tile
      %s1 = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : !tile
      %p = math.exp2 %s1 : !tile
      %ph = arith.truncf %p : !tile to !half
      %pa = ttg.convert_layout %ph : !half -> !left
      %m = ttng.warp_group_dot %pa, %q, %acc {inputPrecision = 0 : i32, isAsync = true} : !left * !buffer -> !tile
      %to = ttg.memdesc_index %b[%f] : !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable> -> !buffer
      %c = ttg.async_copy_global_to_local %from, %to : !ptrs -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %c
      %r1 = arith.addi %r, %c1 : i32
      %rw = arith.cmpi sge, %r1, %buffers : i32
      %r2 = arith.select %rw, %c0, %r1 : i32
      %f1 = arith.addi %f, %c1 : i32
      %fw = arith.cmpi sge, %f1, %buffers : i32
      %f2 = arith.select %fw, %c0, %f1 : i32
      scf.yield %m, %r2, %f2 : !tile, i32, i32
    }
    %done = ttng.warp_group_dot_wait %l#0 {pendings = 0 : i32} : !tile
    tt.store %out, %done : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // Each wait leaves the dot before it in flight, past a reduction, and no other one.
  // CHECK-LABEL: @pending
  // CHECK: ttg.async_wait
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.yield
  tt.func public @pending(%k: !left, %from: !ptrs, %n: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ahead = arith.constant 2 : i32
    %buffers = arith.constant 4 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable>
    %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %r = %c0, %f = %ahead) -> (!tile, i32, i32) : i32 {
      %copied = ttg.async_wait {num = 1 : i32}
      %q = ttg.memdesc_index %b[%r] : !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable> -> !buffer
      %qt = ttg.memdesc_trans %q {order = array<i32: 1, 0>} : !buffer -> !view
      %s = ttng.warp_group_dot %k, %qt, %zero {inputPrecision = 0 : i32, isAsync = true} : !left * !view -> !tile
      %d = ttng.warp_group_dot %k, %q, %zero {inputPrecision = 0 : i32, isAsync = true} : !left * !buffer -> !tile
      %rows = "tt.reduce"(%zero) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %sum = arith.addf %x, %y : f32
        tt.reduce.return %sum : f32
      }) : (!tile) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %s1 = ttng.warp_group_dot_wait %s {pendings = 1 : i32} : !tile
      %p = math.exp2 %s1 : !tile
      %ph = arith.truncf %p : !tile to !half
      %pa = ttg.convert_layout %ph : !half -> !left
      %m = ttng.warp_group_dot %pa, %q, %acc {inputPrecision = 0 : i32, isAsync = true} : !left * !buffer -> !tile
      %more = "tt.reduce"(%zero) <{axis = 1 : i32}> ({
      ^bb0(%v: f32, %w: f32):
        %sum = arith.addf %v, %w : f32
        tt.reduce.return %sum : f32
      }) : (!tile) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %d1 = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : !tile
      %to = ttg.memdesc_index %b[%f] : !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable> -> !buffer
      %c = ttg.async_copy_global_to_local %from, %to : !ptrs -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %c
      %r1 = arith.addi %r, %c1 : i32
      %rw = arith.cmpi sge, %r1, %buffers : i32
      %r2 = arith.select %rw, %c0, %r1 : i32
      %f1 = arith.addi %f, %c1 : i32
      %fw = arith.cmpi sge, %f1, %buffers : i32
      %f2 = arith.select %fw, %c0, %f1 : i32
      scf.yield %m, %r2, %f2 : !tile, i32, i32
    }
    %done = ttng.warp_group_dot_wait %l#0 {pendings = 0 : i32} : !tile
    tt.store %out, %done : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // CHECK-LABEL: @no_spare_buffer
  // CHECK: ttg.async_wait
  // CHECK: gpu.barrier
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: gpu.barrier
  // CHECK-NEXT: ttg.async_copy_global_to_local
  tt.func public @no_spare_buffer(%k: !left, %from: !ptrs, %n: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ahead = arith.constant 2 : i32
    %buffers = arith.constant 3 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %r = %c0, %f = %ahead) -> (!tile, i32, i32) : i32 {
      %copied = ttg.async_wait {num = 1 : i32}
      %q = ttg.memdesc_index %b[%r] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !buffer
      %qt = ttg.memdesc_trans %q {order = array<i32: 1, 0>} : !buffer -> !view
      %s = ttng.warp_group_dot %k, %qt, %zero {inputPrecision = 0 : i32, isAsync = true} : !left * !view -> !tile
      %s1 = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : !tile
      %p = math.exp2 %s1 : !tile
      %ph = arith.truncf %p : !tile to !half
      %pa = ttg.convert_layout %ph : !half -> !left
      %m = ttng.warp_group_dot %pa, %q, %acc {inputPrecision = 0 : i32, isAsync = true} : !left * !buffer -> !tile
      %to = ttg.memdesc_index %b[%f] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !buffer
      %c = ttg.async_copy_global_to_local %from, %to : !ptrs -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %c
      %r1 = arith.addi %r, %c1 : i32
      %rw = arith.cmpi sge, %r1, %buffers : i32
      %r2 = arith.select %rw, %c0, %r1 : i32
      %f1 = arith.addi %f, %c1 : i32
      %fw = arith.cmpi sge, %f1, %buffers : i32
      %f2 = arith.select %fw, %c0, %f1 : i32
      scf.yield %m, %r2, %f2 : !tile, i32, i32
    }
    %done = ttng.warp_group_dot_wait %l#0 {pendings = 0 : i32} : !tile
    tt.store %out, %done : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
