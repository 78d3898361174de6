// keep-dots-in-flight: a dot that only accumulates is in flight while the next iteration begins, if neither this
// iteration's copies nor the next one's write what it reads.
// RUN: tessera opt %s --target sm_90a -keep-dots-in-flight --verify-each | FileCheck %s
// RUN: tessera opt %s --target sm_100a -keep-dots-in-flight | FileCheck %s --check-prefix=OTHER
// OTHER-LABEL: @spare_buffer
// OTHER: async_commit_group
// OTHER-NEXT: ttng.warp_group_dot_wait
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
  // The next iteration's wait for its first dot is one for this dot, too; after the loop comes one for the last.
  // CHECK-LABEL: @spare_buffer
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: %[[M:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: scf.yield %[[M]],
  // CHECK: %[[DONE:.*]] = ttng.warp_group_dot_wait %{{.*}}#0 {pendings = 0 : i32}
  // CHECK: tt.store %{{.*}}, %[[DONE]]
  tt.func public @spare_buffer(%k: !left, %from: !ptrs, %n: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %kb = ttg.local_alloc : () -> !buffer
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
      %m = ttng.warp_group_dot %kb, %q, %acc {inputPrecision = 0 : i32, isAsync = true} : !buffer * !buffer -> !tile
      %to = ttg.memdesc_index %b[%f] : !ttg.memdesc<4x64x64xf16, #shared, #smem, mutable> -> !buffer
      %c = ttg.async_copy_global_to_local %from, %to : !ptrs -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %c
      %m1 = ttng.warp_group_dot_wait %m {pendings = 0 : i32} : !tile
      %r1 = arith.addi %r, %c1 : i32
      %rw = arith.cmpi sge, %r1, %buffers : i32
      %r2 = arith.select %rw, %c0, %r1 : i32
      %f1 = arith.addi %f, %c1 : i32
      %fw = arith.cmpi sge, %f1, %buffers : i32
      %f2 = arith.select %fw, %c0, %f1 : i32
      scf.yield %m1, %r2, %f2 : !tile, i32, i32
    }
    tt.store %out, %l#0 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // The next iteration fills the buffer that the dot reads.
  // CHECK-LABEL: @no_spare_buffer
  // CHECK: async_commit_group
  // CHECK-NEXT: ttng.warp_group_dot_wait
  tt.func public @no_spare_buffer(%k: !left, %from: !ptrs, %n: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %kb = ttg.local_alloc : () -> !buffer
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
      %m = ttng.warp_group_dot %kb, %q, %acc {inputPrecision = 0 : i32, isAsync = true} : !buffer * !buffer -> !tile
      %to = ttg.memdesc_index %b[%f] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !buffer
      %c = ttg.async_copy_global_to_local %from, %to : !ptrs -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %c
      %m1 = ttng.warp_group_dot_wait %m {pendings = 0 : i32} : !tile
      %r1 = arith.addi %r, %c1 : i32
      %rw = arith.cmpi sge, %r1, %buffers : i32
      %r2 = arith.select %rw, %c0, %r1 : i32
      %f1 = arith.addi %f, %c1 : i32
      %fw = arith.cmpi sge, %f1, %buffers : i32
      %f2 = arith.select %fw, %c0, %f1 : i32
      scf.yield %m1, %r2, %f2 : !tile, i32, i32
    }
    tt.store %out, %l#0 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
