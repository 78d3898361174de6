// An A operand that is converted in registers: the dot is issued in slices along K, which are in flight together. The
// iteration waits for them after the next one's copies.
// RUN: tessera opt %s -tritongpu-pipeline --target sm_90a | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#sharedb = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scaled
  // CHECK: scf.for
  // CHECK: %[[A:.*]] = ttg.memdesc_index {{.*}} -> !ttg.memdesc<64x32xi16
  // CHECK: %[[B:.*]] = ttg.memdesc_index {{.*}} -> !ttg.memdesc<32x64xf16
  // CHECK: %[[A0:.*]] = ttg.memdesc_subslice %[[A]][0, 0]
  // CHECK: %[[R0:.*]] = ttg.local_load %[[A0]]
  // CHECK: %[[A1:.*]] = ttg.memdesc_subslice %[[A]][0, 16]
  // CHECK: %[[R1:.*]] = ttg.local_load %[[A1]]
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: %[[F0:.*]] = arith.sitofp %[[R0]] : tensor<64x16xi16, {{.*}} to tensor<64x16xf16
  // CHECK: %[[S0:.*]] = tt.broadcast %arg2 {{.*}} -> tensor<64x16xf16
  // CHECK: %[[X0:.*]] = arith.mulf %[[F0]], %[[S0]]
  // CHECK: %[[B0:.*]] = ttg.memdesc_subslice %[[B]][0, 0] {{.*}} -> !ttg.memdesc<16x64xf16
  // CHECK: %[[D0:.*]] = ttng.warp_group_dot %[[X0]], %[[B0]], {{.*}} {isAsync = true}
  // CHECK: %[[F1:.*]] = arith.sitofp %[[R1]]
  // CHECK: %[[X1:.*]] = arith.mulf %[[F1]]
  // CHECK: %[[B1:.*]] = ttg.memdesc_subslice %[[B]][16, 0]
  // CHECK: %[[D1:.*]] = ttng.warp_group_dot %[[X1]], %[[B1]], %[[D0]] {isAsync = true}
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: %[[W:.*]] = ttng.warp_group_dot_wait %[[D1]] {pendings = 0 : i32}
  // CHECK: scf.yield %[[W]]
  tt.func public @scaled(%p: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: tensor<64x1xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rb = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %ea = tt.expand_dims %ra {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %eb = tt.expand_dims %rb {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %oa = tt.broadcast %ea : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %ob = tt.broadcast %eb : tensor<1x64xi32, #blocked> -> tensor<32x64xi32, #blocked>
    %sa = tt.splat %p : !tt.ptr<i16> -> tensor<64x32x!tt.ptr<i16>, #blocked>
    %sb = tt.splat %q : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #blocked>
    %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<64x32xi32, #blocked>
    %pb = tt.addptr %sb, %ob : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
    %stepa = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %stepb = arith.constant dense<2048> : tensor<32x64xi32, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %xa = %pa, %xb = %pb) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<32x64x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %xa : tensor<64x32x!tt.ptr<i16>, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x32xi16, #blocked>) -> !ttg.memdesc<64x32xi16, #shared, #smem>
      %xr = ttg.local_load %xs : !ttg.memdesc<64x32xi16, #shared, #smem> -> tensor<64x32xi16, #a>
      %y = tt.load %xb : tensor<32x64x!tt.ptr<f16>, #blocked>
      %ys = ttg.local_alloc %y : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #sharedb, #smem>
      %xf = arith.sitofp %xr : tensor<64x32xi16, #a> to tensor<64x32xf16, #a>
      %ss = tt.broadcast %s : tensor<64x1xf16, #a> -> tensor<64x32xf16, #a>
      %xx = arith.mulf %xf, %ss : tensor<64x32xf16, #a>
      %d = ttng.warp_group_dot %xx, %ys, %acc : tensor<64x32xf16, #a> * !ttg.memdesc<32x64xf16, #sharedb, #smem> -> tensor<64x64xf32, #mma>
      %na = tt.addptr %xa, %stepa : tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<64x32xi32, #blocked>
      %nb = tt.addptr %xb, %stepb : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      scf.yield %d, %na, %nb : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<32x64x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // A splat that something else uses is also made as a whole.
  // CHECK-LABEL: @scale_is_used_elsewhere
  // CHECK: scf.for
  // CHECK: %[[WHOLE:.*]] = tt.broadcast {{.*}} -> tensor<64x32xf16
  // CHECK-COUNT-2: ttng.warp_group_dot %{{.*}} : tensor<64x16xf16
  // CHECK: arith.addf %{{.*}}, %[[WHOLE]] : tensor<64x32xf16
  tt.func public @scale_is_used_elsewhere(%p: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: tensor<64x1xf16, #a>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #a>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rb = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %ea = tt.expand_dims %ra {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %eb = tt.expand_dims %rb {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %oa = tt.broadcast %ea : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %ob = tt.broadcast %eb : tensor<1x64xi32, #blocked> -> tensor<32x64xi32, #blocked>
    %sa = tt.splat %p : !tt.ptr<i16> -> tensor<64x32x!tt.ptr<i16>, #blocked>
    %sb = tt.splat %q : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #blocked>
    %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<64x32xi32, #blocked>
    %pb = tt.addptr %sb, %ob : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
    %none = arith.constant dense<0.0> : tensor<64x32xf16, #a>
    %stepa = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %stepb = arith.constant dense<2048> : tensor<32x64xi32, #blocked>
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %none, %xa = %pa, %xb = %pb) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #a>, tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<32x64x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %xa : tensor<64x32x!tt.ptr<i16>, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x32xi16, #blocked>) -> !ttg.memdesc<64x32xi16, #shared, #smem>
      %xr = ttg.local_load %xs : !ttg.memdesc<64x32xi16, #shared, #smem> -> tensor<64x32xi16, #a>
      %y = tt.load %xb : tensor<32x64x!tt.ptr<f16>, #blocked>
      %ys = ttg.local_alloc %y : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #sharedb, #smem>
      %xf = arith.sitofp %xr : tensor<64x32xi16, #a> to tensor<64x32xf16, #a>
      %ss = tt.broadcast %s : tensor<64x1xf16, #a> -> tensor<64x32xf16, #a>
      %xx = arith.mulf %xf, %ss : tensor<64x32xf16, #a>
      %d = ttng.warp_group_dot %xx, %ys, %acc : tensor<64x32xf16, #a> * !ttg.memdesc<32x64xf16, #sharedb, #smem> -> tensor<64x64xf32, #mma>
      %more = arith.addf %sum, %ss : tensor<64x32xf16, #a>
      %na = tt.addptr %xa, %stepa : tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<64x32xi32, #blocked>
      %nb = tt.addptr %xb, %stepb : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      scf.yield %d, %more, %na, %nb : tensor<64x64xf32, #mma>, tensor<64x32xf16, #a>, tensor<64x32x!tt.ptr<i16>, #blocked>, tensor<32x64x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x32xf16, #a>
  }
}
