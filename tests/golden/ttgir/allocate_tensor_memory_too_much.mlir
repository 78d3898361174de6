// More columns than tensor memory has are an error at the buffer that does not fit.
// RUN: not tessera opt %s -allocate-tensor-memory --target sm_100a 2>&1 | FileCheck %s
#wide = #ttng.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[@LINE+3]]:{{.*}}error: 'ttng.tmem_alloc' needs 256 columns of tensor memory beside 512 of other buffers
  tt.func public @three() {
    %a = ttng.tmem_alloc : () -> !ttg.memdesc<2x128x256xf32, #wide, #ttng.tensor_memory, mutable>
    %b = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #wide, #ttng.tensor_memory, mutable>
    tt.return
  }
}
