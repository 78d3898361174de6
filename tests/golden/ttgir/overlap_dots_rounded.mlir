// overlap-dots: results of the dots that are issued together that no work needs. One is only rounded, the other one only
// carried on; both are waited for before that, although what is only rounded comes last.
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=4 -overlap-dots -canonicalize -cse | FileCheck %s

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
  // CHECK-LABEL: @only_rounded
  // CHECK: %[[S0:.*]] = ttng.warp_group_dot %arg0, {{.*}}isAsync = true
  // CHECK: %[[P0:.*]] = ttng.warp_group_dot %arg1, {{.*}}isAsync = true
  // CHECK: %[[SW0:.*]] = ttng.warp_group_dot_wait %[[S0]] {pendings = 1 : i32}
  // CHECK: %[[PW0:.*]] = ttng.warp_group_dot_wait %[[P0]] {pendings = 0 : i32}
  // CHECK: ttg.convert_layout %[[PW0]]
  // CHECK: scf.for {{.*}} = %[[SW0]]
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %arg0, {{.*}}isAsync = true
  // CHECK: %[[P:.*]] = ttng.warp_group_dot %arg1, {{.*}}isAsync = true
  // CHECK: %[[SW:.*]] = ttng.warp_group_dot_wait %[[S]] {pendings = 2 : i32}
  // CHECK: %[[PW:.*]] = ttng.warp_group_dot_wait %[[P]] {pendings = 1 : i32}
  // CHECK: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
  // CHECK: ttg.convert_layout %[[PW]]
  // CHECK: scf.yield {{.*}}%[[SW]],
  tt.func public @only_rounded(%q: !rows, %do: !rows, %kv: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> (!acc, !s) {
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
    %r:4 = scf.for %i = %c0 to %n step %c32 iter_args(%kp = %ptrs, %vp = %ptrs, %acc = %zero, %before = %zeroS) -> (!ptrs, !ptrs, !acc, !s) : i32 {
      %kl = tt.load %kp : !ptrs
      %vl = tt.load %vp : !ptrs
      %kb = ttg.local_alloc %kl : (tensor<128x32xf16, #blocked>) -> !tile
      %vb = ttg.local_alloc %vl : (tensor<128x32xf16, #blocked>) -> !tile
      %s = ttng.warp_group_dot %q, %kb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %dp = ttng.warp_group_dot %do, %vb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %d0 = ttg.convert_layout %dp : !s -> tensor<128x32xf32, #dot0>
      %a = arith.truncf %d0 : tensor<128x32xf32, #dot0> to tensor<128x32xf16, #dot0>
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<32x128xf16, #shared, #smem>
      %sum = ttng.warp_group_dot %a, %kt, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot0> * !ttg.memdesc<32x128xf16, #shared, #smem> -> !acc
      %kn = tt.addptr %kp, %step : !ptrs, tensor<128x32xi32, #blocked>
      %vn = tt.addptr %vp, %back : !ptrs, tensor<128x32xi32, #blocked>
      scf.yield %kn, %vn, %sum, %s : !ptrs, !ptrs, !acc, !s
    }
    tt.return %r#2, %r#3 : !acc, !s
  }

  // Not where the loop says so: there is no fifth buffer, either.
  // CHECK-LABEL: @not_requested
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<4x128x32xf16
  // CHECK-NOT: scf.if
  // CHECK: scf.for
  // CHECK: tt.return
  tt.func public @not_requested(%q: !rows, %do: !rows, %kv: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> (!acc, !s) {
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
    %r:4 = scf.for %i = %c0 to %n step %c32 iter_args(%kp = %ptrs, %vp = %ptrs, %acc = %zero, %before = %zeroS) -> (!ptrs, !ptrs, !acc, !s) : i32 {
      %kl = tt.load %kp : !ptrs
      %vl = tt.load %vp : !ptrs
      %kb = ttg.local_alloc %kl : (tensor<128x32xf16, #blocked>) -> !tile
      %vb = ttg.local_alloc %vl : (tensor<128x32xf16, #blocked>) -> !tile
      %s = ttng.warp_group_dot %q, %kb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %dp = ttng.warp_group_dot %do, %vb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %d0 = ttg.convert_layout %dp : !s -> tensor<128x32xf32, #dot0>
      %a = arith.truncf %d0 : tensor<128x32xf32, #dot0> to tensor<128x32xf16, #dot0>
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<32x128xf16, #shared, #smem>
      %sum = ttng.warp_group_dot %a, %kt, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot0> * !ttg.memdesc<32x128xf16, #shared, #smem> -> !acc
      %kn = tt.addptr %kp, %step : !ptrs, tensor<128x32xi32, #blocked>
      %vn = tt.addptr %vp, %back : !ptrs, tensor<128x32xi32, #blocked>
      scf.yield %kn, %vn, %sum, %s : !ptrs, !ptrs, !acc, !s
    } {tessera.overlap_dots = false}
    tt.return %r#2, %r#3 : !acc, !s
  }
}
