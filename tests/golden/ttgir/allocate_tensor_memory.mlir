// Buffers in tensor memory get columns of their own, the largest first; a block allocates the power of two that holds
// all. 128 x 128 f32 are 128 columns, 128 x 64 f16 are 32, a multi-buffer of two 64 x 32 f32 are 64.
// RUN: tessera opt %s -allocate-tensor-memory --target sm_100a | FileCheck %s
#wide = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#half = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#low = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
// CHECK: ttg.tensor_memory_size = 256
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @three() {
    // CHECK: ttng.tmem_alloc {tensor_memory_col_offset = 192 : i32} {{.*}}128x64xf16
    // CHECK: ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32} {{.*}}128x128xf32
    // CHECK: ttng.tmem_alloc {tensor_memory_col_offset = 128 : i32} {{.*}}2x64x32xf32
    %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf16, #half, #ttng.tensor_memory, mutable>
    %b = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #wide, #ttng.tensor_memory, mutable>
    %c = ttng.tmem_alloc : () -> !ttg.memdesc<2x64x32xf32, #low, #ttng.tensor_memory, mutable>
    tt.return
  }
}
