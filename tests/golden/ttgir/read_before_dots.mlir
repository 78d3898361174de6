// issue-dots-early: what is read from shared memory behind the first dot is read before it, if it takes few registers,
// in blocks of one warp group.
// RUN: tessera opt %s --target sm_90a -issue-dots-early | FileCheck %s
// RUN: sed 's/"ttg.num-warps" = 4/"ttg.num-warps" = 8/; s/warpsPerCTA = \[4, 1\]/warpsPerCTA = [8, 1]/' %s | tessera opt - --target sm_90a -issue-dots-early | FileCheck %s --check-prefix=TWO
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#columns = #ttg.slice<{dim = 0, parent = #mma}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = tensor<128x64xf32, #mma>
!a = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!b = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!bs = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!row = !ttg.memdesc<64xf32, #plain, #smem, mutable>
!rows = !ttg.memdesc<3x64xf32, #plain, #smem, mutable>
!wide = !ttg.memdesc<128x64xf32, #flat, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The iteration's row takes 16 registers, and moves with the view of its buffer. The tile takes 64, and stays.
  // CHECK-LABEL: @softmax
  // CHECK: ttg.async_wait
  // CHECK: %[[VIEW:.*]] = ttg.memdesc_index %arg3
  // CHECK-NEXT: %[[M:.*]] = ttg.local_load %[[VIEW]]
  // CHECK-NEXT: %[[S:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttg.local_load %arg4
  // Two warp groups:
  // TWO-LABEL: @softmax
  // TWO: ttg.async_wait
  // TWO-NOT: ttg.local_load
  // TWO: ttng.warp_group_dot {{.*}}isAsync = true
  tt.func public @softmax(%a: !a, %a2: !a, %bs: !bs, %rows: !rows, %bias: !wide, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile) : i32 {
      %token = ttg.async_wait {num = 1 : i32}
      %b = ttg.memdesc_index %bs[%i] : !bs -> !b
      %s = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !a * !b -> !tile
      %view = ttg.memdesc_index %rows[%i] : !rows -> !row
      %m = ttg.local_load %view token %token : !row -> tensor<64xf32, #columns>
      %m1 = tt.expand_dims %m {axis = 0 : i32} : tensor<64xf32, #columns> -> tensor<1x64xf32, #mma>
      %m2 = tt.broadcast %m1 : tensor<1x64xf32, #mma> -> !tile
      %t = ttg.local_load %bias : !wide -> !tile
      %u = arith.addf %m2, %t : !tile
      %p = arith.subf %s, %u : !tile
      %other = ttng.warp_group_dot %a2, %b, %zero {inputPrecision = 0 : i32} : !a * !b -> !tile
      %q = arith.mulf %p, %other : !tile
      %next = arith.addf %sum, %q : !tile
      scf.yield %next : !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<128x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // What is written behind the dot is read there.
  // CHECK-LABEL: @written
  // CHECK: ttng.warp_group_dot
  // CHECK: ttg.local_store
  // CHECK: ttg.local_load
  tt.func public @written(%a: !a, %b: !b, %row: !row, %x: tensor<64xf32, #columns>, %y: !tile, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %s = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !a * !b -> !tile
    %e = math.exp2 %y : !tile
    ttg.local_store %x, %row : tensor<64xf32, #columns> -> !row
    %m = ttg.local_load %row : !row -> tensor<64xf32, #columns>
    %m1 = tt.expand_dims %m {axis = 0 : i32} : tensor<64xf32, #columns> -> tensor<1x64xf32, #mma>
    %m2 = tt.broadcast %m1 : tensor<1x64xf32, #mma> -> !tile
    %p = arith.subf %s, %m2 : !tile
    %other = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !a * !b -> !tile
    %f = arith.mulf %other, %e : !tile
    %q = arith.addf %p, %f : !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %q : tensor<128x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
