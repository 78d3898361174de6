// issue-loads-early: neighbours that are loaded one by one, because their rows begin anywhere, take a register each and
// share one for their address: 64 of them 96 registers, so that no second such load is issued before them. If they are
// loaded together, they take 32.
// RUN: tessera opt %s -issue-loads-early | FileCheck %s
#pair = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @singly
  // CHECK: %[[A:.*]] = tt.load
  // CHECK-NEXT: ttg.local_alloc %[[A]]
  // CHECK-NEXT: %[[B:.*]] = tt.load
  // CHECK-NEXT: ttg.local_alloc %[[B]]
  tt.func public @singly(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %i: tensor<64x128xi32, #pair>) {
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #pair>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #pair>
    %pi = tt.addptr %ps, %i : tensor<64x128x!tt.ptr<f16>, #pair>, tensor<64x128xi32, #pair>
    %qi = tt.addptr %qs, %i : tensor<64x128x!tt.ptr<f16>, #pair>, tensor<64x128xi32, #pair>
    %a = tt.load %pi : tensor<64x128x!tt.ptr<f16>, #pair>
    %x = ttg.local_alloc %a : (tensor<64x128xf16, #pair>) -> !ttg.memdesc<64x128xf16, #rows, #smem>
    %b = tt.load %qi : tensor<64x128x!tt.ptr<f16>, #pair>
    %y = ttg.local_alloc %b : (tensor<64x128xf16, #pair>) -> !ttg.memdesc<64x128xf16, #rows, #smem>
    %u = ttg.local_load %x : !ttg.memdesc<64x128xf16, #rows, #smem> -> tensor<64x128xf16, #pair>
    %v = ttg.local_load %y : !ttg.memdesc<64x128xf16, #rows, #smem> -> tensor<64x128xf16, #pair>
    tt.store %pi, %v : tensor<64x128x!tt.ptr<f16>, #pair>
    tt.store %qi, %u : tensor<64x128x!tt.ptr<f16>, #pair>
    tt.return
  }
  // CHECK-LABEL: @together
  // CHECK: tt.load
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @together(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %k = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #pair}>>
    %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #pair}>> -> tensor<1x128xi32, #pair>
    %i = tt.broadcast %k0 : tensor<1x128xi32, #pair> -> tensor<64x128xi32, #pair>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #pair>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #pair>
    %pi = tt.addptr %ps, %i : tensor<64x128x!tt.ptr<f16>, #pair>, tensor<64x128xi32, #pair>
    %qi = tt.addptr %qs, %i : tensor<64x128x!tt.ptr<f16>, #pair>, tensor<64x128xi32, #pair>
    %a = tt.load %pi : tensor<64x128x!tt.ptr<f16>, #pair>
    %x = ttg.local_alloc %a : (tensor<64x128xf16, #pair>) -> !ttg.memdesc<64x128xf16, #rows, #smem>
    %b = tt.load %qi : tensor<64x128x!tt.ptr<f16>, #pair>
    %y = ttg.local_alloc %b : (tensor<64x128xf16, #pair>) -> !ttg.memdesc<64x128xf16, #rows, #smem>
    %u = ttg.local_load %x : !ttg.memdesc<64x128xf16, #rows, #smem> -> tensor<64x128xf16, #pair>
    %v = ttg.local_load %y : !ttg.memdesc<64x128xf16, #rows, #smem> -> tensor<64x128xf16, #pair>
    tt.store %pi, %v : tensor<64x128x!tt.ptr<f16>, #pair>
    tt.store %qi, %u : tensor<64x128x!tt.ptr<f16>, #pair>
    tt.return
  }
}
