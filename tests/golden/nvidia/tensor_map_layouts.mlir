// A launcher encodes the tensor map of an argument for the layout of the argument's type. Copies to and from buffers of
// other layouts are errors.
// RUN: not tessera compile %s --target sm_90a --emit llir 2>&1 | FileCheck %s
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.tensordesc<tensor<16x64xf16, #wide>>) {
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %b = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #narrow, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.barrier_expect %m, 2048, %true : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    // CHECK: tensor_map_layouts.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'ttng.async_tma_copy_global_to_local' copies between a buffer under #ttg.nvmma_shared<{swizzlingByteWidth = 64, {{.*}}}> and a tensor map that is made for #ttg.nvmma_shared<{swizzlingByteWidth = 128, {{.*}}}>; they must be the same
    ttng.async_tma_copy_global_to_local %x[%zero, %zero] %b, %m, %true : !tt.tensordesc<tensor<16x64xf16, #wide>>, !ttg.memdesc<1xi64, #plain, #smem, mutable> -> !ttg.memdesc<16x64xf16, #narrow, #smem, mutable>
    ttng.wait_barrier %m, %zero : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.inval_barrier %m : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    tt.return
  }
}
