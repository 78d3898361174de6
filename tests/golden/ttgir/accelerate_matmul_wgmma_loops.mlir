// wgmma in loops: dots are asynchronous, and stay in flight where the next iteration does not fill what they read; copies
// into shared memory need no fence.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --split-input-file | FileCheck %s
// RUN: tessera opt %s -tritongpu-accelerate-matmul -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands -tritongpu-pipeline=num-stages=3 --target sm_90a --split-input-file | FileCheck %s --check-prefix=LOOP
// RUN: tessera opt %s -tritongpu-accelerate-matmul -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands -tritongpu-pipeline=num-stages=3 -triton-nvidia-gpu-fence-insertion -allocate-shared-memory -insert-barriers --target sm_90a --split-input-file | FileCheck %s --check-prefix=FENCE
// On a target without warp groups there are none.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_80 --split-input-file | FileCheck %s --check-prefix=SM80
// SM80-NOT: warp_group_dot

// Rows of 64 bytes along K, of 128 across it; the copies are taken where the values are made.
// CHECK-DAG: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// CHECK-DAG: #[[SA:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[SB:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-LABEL: @loop
// CHECK: %[[X:.*]] = tt.load
// CHECK-NEXT: %[[A:.*]] = ttg.local_alloc %[[X]] : {{.*}} -> !ttg.memdesc<64x32xf16, #[[SA]], #smem>
// CHECK: %[[Y:.*]] = tt.load
// CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %[[Y]] : {{.*}} -> !ttg.memdesc<32x64xf16, #[[SB]], #smem>
// CHECK: ttng.warp_group_dot %[[A]], %[[B]], %{{.*}} -> tensor<64x64xf32, #[[MMA]]>
//
// One iteration's wgmma stays in flight during the next; the buffers that it reads are filled after it is done.
// LOOP-LABEL: @loop
// LOOP: %[[RA:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16
// LOOP-COUNT-2: ttg.async_commit_group
// LOOP: scf.for
// LOOP-NEXT: ttg.async_wait {num = 1 : i32}
// LOOP: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
// LOOP-NEXT: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
// LOOP: ttg.async_copy_global_to_local
// LOOP: ttg.async_commit_group
// LOOP: scf.yield %[[W]]
// LOOP: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
// LOOP-NEXT: ttg.async_wait {num = 0 : i32}
//
// Asynchronous copies need no fence; one barrier before the wgmma, one before its buffers are filled again.
// FENCE-LABEL: @loop
// FENCE-NOT: fence_async_shared
// FENCE: scf.for
// FENCE: ttg.async_wait
// FENCE: gpu.barrier
// FENCE-NEXT: ttng.warp_group_dot
// FENCE-NEXT: ttng.warp_group_dot_wait
// FENCE: gpu.barrier
// FENCE-NEXT: ttg.async_copy_global_to_local
// FENCE-NOT: gpu.barrier
// FENCE: scf.yield
#la = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#lb = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @loop(%pa: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %pb: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %stepa = arith.constant dense<32> : tensor<64x32xi32, #la>
    %stepb = arith.constant dense<2048> : tensor<32x64xi32, #lb>
    %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #la}>>
    %ra1 = tt.expand_dims %ra {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #la}>> -> tensor<1x32xi32, #la>
    %ia = tt.broadcast %ra1 : tensor<1x32xi32, #la> -> tensor<64x32xi32, #la>
    %sa = tt.splat %pa : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #la>
    %qa0 = tt.addptr %sa, %ia : tensor<64x32x!tt.ptr<f16>, #la>, tensor<64x32xi32, #la>
    %rb = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #lb}>>
    %rb1 = tt.expand_dims %rb {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #lb}>> -> tensor<1x64xi32, #lb>
    %ib = tt.broadcast %rb1 : tensor<1x64xi32, #lb> -> tensor<32x64xi32, #lb>
    %sb = tt.splat %pb : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #lb>
    %qb0 = tt.addptr %sb, %ib : tensor<32x64x!tt.ptr<f16>, #lb>, tensor<32x64xi32, #lb>
    %d:3 = scf.for %k = %c0 to %n step %c1 iter_args(%qa = %qa0, %qb = %qb0, %sum = %zero) -> (tensor<64x32x!tt.ptr<f16>, #la>, tensor<32x64x!tt.ptr<f16>, #lb>, tensor<64x64xf32, #acc>) : i32 {
      %va = tt.load %qa : tensor<64x32x!tt.ptr<f16>, #la>
      %vb = tt.load %qb : tensor<32x64x!tt.ptr<f16>, #lb>
      %x = ttg.convert_layout %va : tensor<64x32xf16, #la> -> tensor<64x32xf16, #a>
      %y = ttg.convert_layout %vb : tensor<32x64xf16, #lb> -> tensor<32x64xf16, #b>
      %e = tt.dot %x, %y, %sum : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #acc>
      %qa2 = tt.addptr %qa, %stepa : tensor<64x32x!tt.ptr<f16>, #la>, tensor<64x32xi32, #la>
      %qb2 = tt.addptr %qb, %stepb : tensor<32x64x!tt.ptr<f16>, #lb>, tensor<32x64xi32, #lb>
      scf.yield %qa2, %qb2, %e : tensor<64x32x!tt.ptr<f16>, #la>, tensor<32x64x!tt.ptr<f16>, #lb>, tensor<64x64xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #acc>
    tt.store %os, %d#2 : tensor<64x64x!tt.ptr<f32>, #acc>
    tt.return
  }
}

// -----

// An operand that the body computes from a load: the next iteration fills its buffer again, so the wgmma is waited for in
// the same iteration, after the copies.
// LOOP-LABEL: @refilled
// LOOP: scf.for
// LOOP: ttg.local_alloc %{{.*}} : (tensor<32x64xf16
// LOOP: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync
// LOOP: ttg.async_commit_group
// LOOP: ttng.warp_group_dot_wait %[[D]] {pendings = 0 : i32}
// LOOP: scf.yield
// LOOP-NOT: warp_group_dot_wait
// LOOP: tt.return
#la = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#lb = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @refilled(%pa: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %pb: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %stepa = arith.constant dense<32> : tensor<64x32xi32, #la>
    %stepb = arith.constant dense<2048> : tensor<32x64xi32, #lb>
    %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #la}>>
    %ra1 = tt.expand_dims %ra {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #la}>> -> tensor<1x32xi32, #la>
    %ia = tt.broadcast %ra1 : tensor<1x32xi32, #la> -> tensor<64x32xi32, #la>
    %sa = tt.splat %pa : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #la>
    %qa0 = tt.addptr %sa, %ia : tensor<64x32x!tt.ptr<f16>, #la>, tensor<64x32xi32, #la>
    %rb = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #lb}>>
    %rb1 = tt.expand_dims %rb {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #lb}>> -> tensor<1x64xi32, #lb>
    %ib = tt.broadcast %rb1 : tensor<1x64xi32, #lb> -> tensor<32x64xi32, #lb>
    %sb = tt.splat %pb : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #lb>
    %qb0 = tt.addptr %sb, %ib : tensor<32x64x!tt.ptr<f16>, #lb>, tensor<32x64xi32, #lb>
    %d:3 = scf.for %k = %c0 to %n step %c1 iter_args(%qa = %qa0, %qb = %qb0, %sum = %zero) -> (tensor<64x32x!tt.ptr<f16>, #la>, tensor<32x64x!tt.ptr<f16>, #lb>, tensor<64x64xf32, #acc>) : i32 {
      %va = tt.load %qa : tensor<64x32x!tt.ptr<f16>, #la>
      %vb = tt.load %qb : tensor<32x64x!tt.ptr<f16>, #lb>
      %x = ttg.convert_layout %va : tensor<64x32xf16, #la> -> tensor<64x32xf16, #a>
      %vb2 = arith.addf %vb, %vb : tensor<32x64xf16, #lb>
      %y = ttg.convert_layout %vb2 : tensor<32x64xf16, #lb> -> tensor<32x64xf16, #b>
      %e = tt.dot %x, %y, %sum : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #acc>
      %qa2 = tt.addptr %qa, %stepa : tensor<64x32x!tt.ptr<f16>, #la>, tensor<64x32xi32, #la>
      %qb2 = tt.addptr %qb, %stepb : tensor<32x64x!tt.ptr<f16>, #lb>, tensor<32x64xi32, #lb>
      scf.yield %qa2, %qb2, %e : tensor<64x32x!tt.ptr<f16>, #la>, tensor<32x64x!tt.ptr<f16>, #lb>, tensor<64x64xf32, #acc>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #acc>
    tt.store %os, %d#2 : tensor<64x64x!tt.ptr<f32>, #acc>
    tt.return
  }
}
