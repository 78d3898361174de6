// Accumulators stored to shared memory as 16-bit elements: stmatrix, transposed where the buffer is column-major, if
// the target has it and the layout keeps 16 bytes together; otherwise word or element stores.
// RUN: tessera compile %s --kernel rows --target sm_90a --emit ptx | FileCheck %s
// RUN: tessera compile %s --kernel rows --target sm_80 --emit ptx | FileCheck %s --check-prefix=NONE
// NONE-NOT: stmatrix
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#thin = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#pairs = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#plain = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // 64 rows of 64 halves in four warps: four instructions, of four matrices each, in a thread.
  // CHECK-LABEL: .entry rows(
  // CHECK-NOT: st.shared
  // CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
  // CHECK-NOT: stmatrix
  // CHECK-NOT: st.shared
  tt.func public @rows(%p: !tt.ptr<f16>, %v: f16) {
    %x = tt.splat %v : f16 -> tensor<64x64xf16, #mma>
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf16, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  // CHECK-LABEL: .entry columns(
  // CHECK-NOT: st.shared
  // CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
  // CHECK-NOT: stmatrix
  // CHECK-NOT: st.shared
  tt.func public @columns(%p: !tt.ptr<f16>, %v: f16) {
    %x = tt.splat %v : f16 -> tensor<64x64xf16, #mma>
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #columns, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #columns, #smem> -> tensor<64x64xf16, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  // Swizzled by 8 bytes: no row of 16.
  // CHECK-LABEL: .entry pairs(
  // CHECK-NOT: stmatrix
  // CHECK: st.shared
  // CHECK-NOT: stmatrix
  tt.func public @pairs(%p: !tt.ptr<f16>, %v: f16) {
    %x = tt.splat %v : f16 -> tensor<64x64xf16, #mma>
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #pairs, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #pairs, #smem> -> tensor<64x64xf16, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  // CHECK-LABEL: .entry converted(
  // CHECK-NOT: st.shared
  // CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-NOT: stmatrix
  // CHECK-NOT: st.shared
  tt.func public @converted(%p: !tt.ptr<f16>, %a: !tt.ptr<f16>) {
    %s = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #mma>
    %x = tt.load %s {isVolatile = true} : tensor<64x64x!tt.ptr<f16>, #mma>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  // Two matrices in a warp.
  // CHECK-LABEL: .entry narrow(
  // CHECK-COUNT-1: stmatrix.sync.aligned.m8n8.x2.shared.b16
  // CHECK-NOT: stmatrix
  tt.func public @narrow(%p: !tt.ptr<f16>, %v: f16) {
    %x = tt.splat %v : f16 -> tensor<64x8xf16, #thin>
    %m = ttg.local_alloc %x : (tensor<64x8xf16, #thin>) -> !ttg.memdesc<64x8xf16, #plain, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<64x8xf16, #plain, #smem> -> tensor<64x8xf16, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<64x8x!tt.ptr<f16>, #blocked>
    tt.store %q, %y : tensor<64x8x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
