// issue-dots-early: the first dot of a block comes before the copies by threads of the next tile.
// RUN: tessera opt %s --target sm_90a -issue-dots-early | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
!tile = tensor<64x64xf32, #mma>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // With two buffers, the copies of the next tile are issued while the first dot runs, and the second one, too.
  // CHECK-LABEL: @copies
  // CHECK: scf.for
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NEXT: %[[TILE:.*]] = ttg.memdesc_index %arg1[%[[AT:.*]]]
  // CHECK-NEXT: %[[S:.*]] = ttng.warp_group_dot %arg0, %[[TILE]], {{.*}}isAsync = true
  // CHECK-NEXT: %[[DP:.*]] = ttng.warp_group_dot %arg2, %[[TILE]], {{.*}}isAsync = true
  // CHECK: tt.addptr
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.async_commit_group
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[S]] {pendings = 1 : i32}
  // CHECK-NEXT: math.exp2
  // CHECK: ttng.warp_group_dot_wait %[[DP]] {pendings = 0 : i32}
  tt.func public @copies(%k: !buffer, %tiles: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %v: !buffer, %n: i32, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0) -> (i32) : i32 {
      %ready = ttg.async_wait {num = 0 : i32}
      %next = arith.subi %c1, %at : i32
      %offsets = tt.splat %i : i32 -> tensor<64x64xi32, #blocked>
      %from = tt.addptr %p, %offsets : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %to = ttg.memdesc_index %tiles[%next] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !buffer
      %copy = ttg.async_copy_global_to_local %from, %to : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %tile = ttg.memdesc_index %tiles[%at] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !buffer
      %s = ttng.warp_group_dot %k, %tile, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %e = math.exp2 %s : !tile
      %dp = ttng.warp_group_dot %v, %tile, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      %m = arith.mulf %e, %dp : !tile
      tt.store %out, %m : tensor<64x64x!tt.ptr<f32>, #mma>
      scf.yield %next : i32
    }
    tt.return
  }
  // A dot whose result is carried stays after the copies: nothing else takes time.
  // CHECK-LABEL: @carried
  // CHECK: ttg.async_commit_group
  // CHECK: ttng.warp_group_dot
  tt.func public @carried(%k: !buffer, %tiles: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %n: i32, %from: tensor<64x64x!tt.ptr<f16>, #blocked>) -> !tile {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0, %acc = %zero) -> (i32, !tile) : i32 {
      %ready = ttg.async_wait {num = 0 : i32}
      %next = arith.subi %c1, %at : i32
      %to = ttg.memdesc_index %tiles[%next] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !buffer
      %copy = ttg.async_copy_global_to_local %from, %to : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %tile = ttg.memdesc_index %tiles[%at] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !buffer
      %s = ttng.warp_group_dot %k, %tile, %acc {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
      scf.yield %next, %s : i32, !tile
    }
    tt.return %r#1 : !tile
  }
}
