// tritongpu-pipeline and overlap-dots: a loop copies its operands itself, two dots need nothing of its work, and a third
// one only accumulates what that work computes. Where no second block fits, each iteration issues the third dot of the
// iteration before behind its own first two: it reads the buffer of that iteration, which the copies leave alone for as
// long (five buffers, copies three iterations ahead). The first iteration is peeled.
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=4 -overlap-dots -canonicalize -cse | FileCheck %s
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=4 -overlap-dots -o %t --remarks 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: 1 dot of an iteration is issued behind the first 2 dots of the next one: about 768 cycles of dots at a time; about {{[0-9]+}} registers of a thread [overlap-dots:DotsOverlapped]
// REMARK-NOT: DotsOverlapped

#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 8], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#mmaS = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 32, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!ptrs = tensor<128x32x!tt.ptr<f16>, #blocked>
!acc = tensor<128x128xf32, #mma>
!s = tensor<128x32xf32, #mmaS>
!rows = !ttg.memdesc<128x128xf16, #shared, #smem>
!tile = !ttg.memdesc<128x32xf16, #sharedT, #smem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @query_gradients
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<5x128x32xf16
  // CHECK: scf.if
  // CHECK: ttg.async_wait {num = 2 : i32}
  // CHECK: %[[S0:.*]] = ttng.warp_group_dot %arg0, {{.*}}isAsync = true
  // CHECK: %[[P0:.*]] = ttng.warp_group_dot %arg1, {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %[[S0]] {pendings = 1 : i32}
  // CHECK: math.exp2
  // CHECK: ttng.warp_group_dot_wait %[[P0]] {pendings = 0 : i32}
  // CHECK: %[[DS0:.*]] = arith.truncf
  // CHECK: scf.for {{.*}} iter_args({{.*}}%[[ACC:[^ ]*]] = %cst{{[_0-9]*}}, {{.*}}%[[READ:[^ ]*]] = %c1_i32, {{.*}}%[[DS:[^ ]*]] = %[[DS0]], %[[BEFORE:[^ ]*]] = %c0_i32)
  // CHECK: ttg.async_wait {num = 2 : i32}
  // CHECK: ttg.memdesc_index %[[K:.*]][%[[READ]]]
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %arg0, {{.*}}isAsync = true
  // CHECK-NEXT: %[[P:.*]] = ttng.warp_group_dot %arg1, {{.*}}isAsync = true
  // CHECK-NEXT: %[[KB:.*]] = ttg.memdesc_index %[[K]][%[[BEFORE]]]
  // CHECK-NEXT: %[[KT:.*]] = ttg.memdesc_trans %[[KB]]
  // CHECK-NEXT: %[[Q:.*]] = ttng.warp_group_dot %[[DS]], %[[KT]], %[[ACC]] {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %[[S]] {pendings = 2 : i32}
  // CHECK: math.exp2
  // CHECK: ttng.warp_group_dot_wait %[[P]] {pendings = 1 : i32}
  // CHECK: ttg.async_commit_group
  // CHECK: %[[SUM:.*]] = ttng.warp_group_dot_wait %[[Q]] {pendings = 0 : i32}
  // CHECK: %[[DS1:.*]] = arith.truncf
  // CHECK: scf.yield {{.*}}%[[SUM]], {{.*}}%[[DS1]], %[[READ]] :
  // CHECK: %[[LAST:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %[[LAST]] {pendings = 0 : i32}
  tt.func public @query_gradients(%q: !rows, %do: !rows, %kv: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> !acc {
    %zero = arith.constant dense<0.0> : !acc
    %zeroS = arith.constant dense<0.0> : !s
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %offsets = tt.broadcast %column : tensor<128x1xi32, #blocked> -> tensor<128x32xi32, #blocked>
    %base = tt.splat %kv : !tt.ptr<f16> -> !ptrs
    %ptrs = tt.addptr %base, %offsets : !ptrs, tensor<128x32xi32, #blocked>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %back = arith.constant dense<-4096> : tensor<128x32xi32, #blocked>
    %step = arith.constant dense<4096> : tensor<128x32xi32, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c32 iter_args(%kp = %ptrs, %vp = %ptrs, %acc = %zero) -> (!ptrs, !ptrs, !acc) : i32 {
      %kl = tt.load %kp : !ptrs
      %vl = tt.load %vp : !ptrs
      %kb = ttg.local_alloc %kl : (tensor<128x32xf16, #blocked>) -> !tile
      %vb = ttg.local_alloc %vl : (tensor<128x32xf16, #blocked>) -> !tile
      %s = ttng.warp_group_dot %q, %kb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %p = math.exp2 %s : !s
      %dp = ttng.warp_group_dot %do, %vb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %ds = arith.mulf %p, %dp : !s
      %d0 = ttg.convert_layout %ds : !s -> tensor<128x32xf32, #dot0>
      %a = arith.truncf %d0 : tensor<128x32xf32, #dot0> to tensor<128x32xf16, #dot0>
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<32x128xf16, #shared, #smem>
      %sum = ttng.warp_group_dot %a, %kt, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot0> * !ttg.memdesc<32x128xf16, #shared, #smem> -> !acc
      %kn = tt.addptr %kp, %step : !ptrs, tensor<128x32xi32, #blocked>
      %vn = tt.addptr %vp, %back : !ptrs, tensor<128x32xi32, #blocked>
      scf.yield %kn, %vn, %sum : !ptrs, !ptrs, !acc
    }
    tt.return %r#2 : !acc
  }

  // The accumulator is scaled in each iteration: its dot stays in its own iteration, and there are four buffers.
  // CHECK-LABEL: @scaled_sum
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<4x128x32xf16
  // CHECK-NOT: scf.if
  // CHECK: scf.for
  // CHECK: ttg.async_wait {num = 2 : i32}
  // CHECK: tt.return
  tt.func public @scaled_sum(%q: !rows, %do: !rows, %kv: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> !acc {
    %zero = arith.constant dense<0.0> : !acc
    %half = arith.constant dense<0.5> : !acc
    %zeroS = arith.constant dense<0.0> : !s
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %offsets = tt.broadcast %column : tensor<128x1xi32, #blocked> -> tensor<128x32xi32, #blocked>
    %base = tt.splat %kv : !tt.ptr<f16> -> !ptrs
    %ptrs = tt.addptr %base, %offsets : !ptrs, tensor<128x32xi32, #blocked>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %back = arith.constant dense<-4096> : tensor<128x32xi32, #blocked>
    %step = arith.constant dense<4096> : tensor<128x32xi32, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c32 iter_args(%kp = %ptrs, %vp = %ptrs, %acc = %zero) -> (!ptrs, !ptrs, !acc) : i32 {
      %kl = tt.load %kp : !ptrs
      %vl = tt.load %vp : !ptrs
      %kb = ttg.local_alloc %kl : (tensor<128x32xf16, #blocked>) -> !tile
      %vb = ttg.local_alloc %vl : (tensor<128x32xf16, #blocked>) -> !tile
      %s = ttng.warp_group_dot %q, %kb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %p = math.exp2 %s : !s
      %dp = ttng.warp_group_dot %do, %vb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %ds = arith.mulf %p, %dp : !s
      %d0 = ttg.convert_layout %ds : !s -> tensor<128x32xf32, #dot0>
      %a = arith.truncf %d0 : tensor<128x32xf32, #dot0> to tensor<128x32xf16, #dot0>
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<32x128xf16, #shared, #smem>
      %scaled = arith.mulf %acc, %half : !acc
      %sum = ttng.warp_group_dot %a, %kt, %scaled {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot0> * !ttg.memdesc<32x128xf16, #shared, #smem> -> !acc
      %kn = tt.addptr %kp, %step : !ptrs, tensor<128x32xi32, #blocked>
      %vn = tt.addptr %vp, %back : !ptrs, tensor<128x32xi32, #blocked>
      scf.yield %kn, %vn, %sum : !ptrs, !ptrs, !acc
    }
    tt.return %r#2 : !acc
  }
}
