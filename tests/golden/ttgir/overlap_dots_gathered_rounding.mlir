// overlap-dots: the results of both first dots are only rounded, for two sums, which two dots of the next iteration add
// up. Rounding comes behind the wait for these two; the first dots are waited for before it as well, and so they are in
// the peeled iteration, where no other dot is.
// RUN: tessera opt %s --target sm_90a -tritongpu-pipeline=num-stages=4 -overlap-dots -canonicalize -cse | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 8], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#mmaS = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 32, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!ptrs = tensor<64x32x!tt.ptr<f16>, #blocked>
!acc = tensor<128x64xf32, #mma>
!s = tensor<128x32xf32, #mmaS>
!rows = !ttg.memdesc<128x64xf16, #shared, #smem>
!tile = !ttg.memdesc<64x32xf16, #sharedT, #smem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rounded_results
  // CHECK: scf.if
  // CHECK: %[[S0:.*]] = ttng.warp_group_dot %arg0, {{.*}}isAsync = true
  // CHECK: %[[P0:.*]] = ttng.warp_group_dot %arg1, {{.*}}isAsync = true
  // CHECK: %[[S0W:.*]] = ttng.warp_group_dot_wait %[[S0]] {pendings = 1 : i32}
  // CHECK-NEXT: %[[P0W:.*]] = ttng.warp_group_dot_wait %[[P0]] {pendings = 0 : i32}
  // CHECK: ttg.convert_layout %[[S0W]]
  // CHECK: ttg.convert_layout %[[P0W]]
  // CHECK: scf.for
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %arg0, {{.*}}isAsync = true
  // CHECK-NEXT: %[[P:.*]] = ttng.warp_group_dot %arg1, {{.*}}isAsync = true
  // CHECK: %[[X:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: %[[Y:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttg.async_commit_group
  // CHECK: %[[SW:.*]] = ttng.warp_group_dot_wait %[[S]] {pendings = 3 : i32}
  // CHECK-NEXT: %[[PW:.*]] = ttng.warp_group_dot_wait %[[P]] {pendings = 2 : i32}
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[X]], %[[Y]] {pendings = 0 : i32}
  // CHECK: ttg.convert_layout %[[SW]]
  // CHECK: ttg.convert_layout %[[PW]]
  // CHECK: scf.yield
  tt.func public @rounded_results(%q: !rows, %do: !rows, %kv: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> (!acc, !acc) {
    %zero = arith.constant dense<0.0> : !acc
    %zeroS = arith.constant dense<0.0> : !s
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %offsets = tt.broadcast %column : tensor<64x1xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %base = tt.splat %kv : !tt.ptr<f16> -> !ptrs
    %ptrs = tt.addptr %base, %offsets : !ptrs, tensor<64x32xi32, #blocked>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %back = arith.constant dense<-4096> : tensor<64x32xi32, #blocked>
    %step = arith.constant dense<4096> : tensor<64x32xi32, #blocked>
    %r:4 = scf.for %i = %c0 to %n step %c32 iter_args(%kp = %ptrs, %vp = %ptrs, %acc = %zero, %other = %zero) -> (!ptrs, !ptrs, !acc, !acc) : i32 {
      %kl = tt.load %kp : !ptrs
      %vl = tt.load %vp : !ptrs
      %kb = ttg.local_alloc %kl : (tensor<64x32xf16, #blocked>) -> !tile
      %vb = ttg.local_alloc %vl : (tensor<64x32xf16, #blocked>) -> !tile
      %s = ttng.warp_group_dot %q, %kb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %dp = ttng.warp_group_dot %do, %vb, %zeroS {inputPrecision = 0 : i32} : !rows * !tile -> !s
      %s0 = ttg.convert_layout %s : !s -> tensor<128x32xf32, #dot0>
      %a = arith.truncf %s0 : tensor<128x32xf32, #dot0> to tensor<128x32xf16, #dot0>
      %d0 = ttg.convert_layout %dp : !s -> tensor<128x32xf32, #dot0>
      %b = arith.truncf %d0 : tensor<128x32xf32, #dot0> to tensor<128x32xf16, #dot0>
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<32x64xf16, #shared, #smem>
      %vt = ttg.memdesc_trans %vb {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<32x64xf16, #shared, #smem>
      %sum = ttng.warp_group_dot %a, %kt, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot0> * !ttg.memdesc<32x64xf16, #shared, #smem> -> !acc
      %more = ttng.warp_group_dot %b, %vt, %other {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot0> * !ttg.memdesc<32x64xf16, #shared, #smem> -> !acc
      %kn = tt.addptr %kp, %step : !ptrs, tensor<64x32xi32, #blocked>
      %vn = tt.addptr %vp, %back : !ptrs, tensor<64x32xi32, #blocked>
      scf.yield %kn, %vn, %sum, %more : !ptrs, !ptrs, !acc, !acc
    }
    tt.return %r#2, %r#3 : !acc, !acc
  }
}
