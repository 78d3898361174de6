// issue-dots-early: a dot that needs nothing of the work before it is issued after an earlier dot, and dots are waited
// for where their results are used.
// RUN: tessera opt %s --target sm_90a -issue-dots-early | FileCheck %s
// RUN: tessera opt %s --target sm_100a -issue-dots-early | FileCheck %s --check-prefix=OTHER
// OTHER-LABEL: @gradients
// OTHER-NOT: isAsync = true
// OTHER-LABEL: @counted
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf32, #mma>
!half = tensor<64x64xf16, #mma>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!view = !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The gradients of attention: dP is issued after S, and runs under the exponentials.
  // CHECK-LABEL: @gradients
  // CHECK: scf.for
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %arg0, %{{.*}}isAsync = true
  // CHECK-NEXT: %[[VIEW:.*]] = ttg.memdesc_trans %arg3
  // CHECK-NEXT: %[[DP:.*]] = ttng.warp_group_dot %arg1, %[[VIEW]], {{.*}}isAsync = true
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[S]] {pendings = 1 : i32}
  // CHECK-NEXT: math.exp2
  // CHECK: %[[DV:.*]] = ttng.warp_group_dot {{.*}}, %arg3, {{.*}}isAsync = true
  // CHECK-NEXT: %[[DP2:.*]] = ttng.warp_group_dot_wait %[[DP]] {pendings = 1 : i32}
  // CHECK: arith.mulf %{{.*}}, %[[DP2]]
  // CHECK: %[[DK:.*]] = ttng.warp_group_dot {{.*}}, %arg2, {{.*}}isAsync = true
  // CHECK: %[[DV2:.*]] = ttng.warp_group_dot_wait %[[DV]] {pendings = 1 : i32}
  // CHECK: %[[DK2:.*]] = ttng.warp_group_dot_wait %[[DK]] {pendings = 0 : i32}
  // CHECK: scf.yield %[[DV2]], %[[DK2]]
  tt.func public @gradients(%k: !buffer, %v: !buffer, %q: !buffer, %do: !buffer, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%dv = %zero, %dk = %zero) -> (!tile, !tile) : i32 {
      %qt = ttg.memdesc_trans %q {order = array<i32: 1, 0>} : !buffer -> !view
      %s = ttng.warp_group_dot %k, %qt, %zero {inputPrecision = 0 : i32} : !buffer * !view -> !tile
      %p = math.exp2 %s : !tile
      %ph = arith.truncf %p : !tile to !half
      %pa = ttg.convert_layout %ph : !half -> tensor<64x64xf16, #dot0>
      %dv1 = ttng.warp_group_dot %pa, %do, %dv {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      %dot = ttg.memdesc_trans %do {order = array<i32: 1, 0>} : !buffer -> !view
      %dp = ttng.warp_group_dot %v, %dot, %zero {inputPrecision = 0 : i32} : !buffer * !view -> !tile
      %ds = arith.mulf %p, %dp : !tile
      %dh = arith.truncf %ds : !tile to !half
      %da = ttg.convert_layout %dh : !half -> tensor<64x64xf16, #dot0>
      %dk1 = ttng.warp_group_dot %da, %q, %dk {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      %step = math.absf %p : !tile
      %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
      tt.store %ptrs, %step : tensor<64x64x!tt.ptr<f32>, #mma>
      scf.yield %dv1, %dk1 : !tile, !tile
    }
    %sum = arith.addf %r#0, %r#1 : !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %sum : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // What may write an operand's buffer comes after a wait; dots do not move across it.
  // CHECK-LABEL: @written
  // CHECK: %[[A:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[A]] {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_store
  // CHECK: ttng.warp_group_dot %arg0, %arg1
  // CHECK-NOT: isAsync
  // CHECK: tt.return
  tt.func public @written(%a: !buffer, %b: !buffer, %x: tensor<64x64xf16, #mma>, %y: !tile, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %d = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %e = math.exp2 %y : !tile
    ttg.local_store %x, %b : tensor<64x64xf16, #mma> -> !buffer
    %f = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %s = arith.addf %d, %f : !tile
    %t = arith.addf %s, %e : !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %t : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // The buffer of the first dot ends with the dot: in flight, it would keep the bytes that the second buffer can take.
  // CHECK-LABEL: @ends
  // CHECK-NOT: isAsync
  // CHECK: tt.return
  tt.func public @ends(%x: tensor<64x64xf16, #mma>, %b: !buffer, %y: !tile, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %d = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !buffer -> !tile
    %e = math.exp2 %y : !tile
    %f = arith.addf %d, %e : !tile
    %c = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %g = ttng.warp_group_dot %c, %b, %f {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !buffer -> !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %g : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // A dot stays after an asynchronous one, which waits count on.
  // CHECK-LABEL: @counted
  // CHECK: ttng.warp_group_dot
  // CHECK: math.exp2
  // CHECK: %[[B:.*]] = ttng.warp_group_dot %arg1, %arg0, {{.*}}isAsync = true
  // CHECK-NEXT: %[[C:.*]] = ttng.warp_group_dot %arg1, %arg1
  // CHECK: ttng.warp_group_dot_wait %[[B]] {pendings = 1 : i32}
  tt.func public @counted(%a: !buffer, %b: !buffer, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %d = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %e = math.exp2 %d : !tile
    %f = ttng.warp_group_dot %b, %a, %zero {inputPrecision = 0 : i32, isAsync = true} : !buffer * !buffer -> !tile
    %g = ttng.warp_group_dot %b, %b, %zero {inputPrecision = 0 : i32} : !buffer * !buffer -> !tile
    %w = ttng.warp_group_dot_wait %f {pendings = 1 : i32} : !tile
    %s = arith.addf %e, %w : !tile
    %t = arith.addf %s, %g : !tile
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %t : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
