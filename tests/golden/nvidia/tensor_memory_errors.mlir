// Warps that do not have all lanes of tensor memory, and targets without tensor memory, are located errors.
// RUN: not tessera compile %s --target sm_100a --emit llir -o - 2>&1 | FileCheck %s
// RUN: not tessera compile %s --target sm_120a --emit llir -o - 2>&1 | FileCheck %s --check-prefix=WITHOUT
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!acc = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @warps() {
    %true = arith.constant true
    %x = arith.constant dense<0.0> : tensor<128x64xf32, #blocked>
    // WITHOUT: [[@LINE+1]]:{{.*}}error: 'ttng.tmem_alloc'
    %acc = ttng.tmem_alloc : () -> !acc
    // CHECK: [[@LINE+1]]:{{.*}}error: 'ttng.tmem_store' accesses tensor memory from warps that are not whole groups
    ttng.tmem_store %x, %acc, %true : tensor<128x64xf32, #blocked> -> !acc
    tt.return
  }
}
