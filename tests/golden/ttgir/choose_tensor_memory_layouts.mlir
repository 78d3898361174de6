// Registers that no access to tensor memory moves are converted; those that one moves stay.
// RUN: tessera opt %s -choose-tensor-memory-layouts --target sm_100a | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#low = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
!acc = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
!low = !ttg.memdesc<64x64xf32, #low, #ttng.tensor_memory, mutable>
// CHECK-DAG: #[[ROWS:linear[0-9]*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]
// The second half of 64 rows' lanes has the other half of the columns.
// CHECK-DAG: #[[LOW:linear[0-9]*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = {{\[\[}}16, 0], [32, 0]]
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @accesses
  tt.func public @accesses(%x: tensor<128x64xf32, #blocked>, %y: tensor<128x64xf32, #rows>, %z: tensor<64x64xf32, #blocked>) {
    %true = arith.constant true
    // CHECK: %[[X:.*]] = ttg.convert_layout %{{.*}} -> tensor<128x64xf32, #[[ROWS]]>
    // CHECK-NEXT: ttng.tmem_alloc %[[X]]
    %acc = ttng.tmem_alloc %x : (tensor<128x64xf32, #blocked>) -> !acc
    // CHECK-NEXT: ttng.tmem_store %arg1
    ttng.tmem_store %y, %acc, %true : tensor<128x64xf32, #rows> -> !acc
    // CHECK: ttg.convert_layout %{{.*}} -> tensor<64x64xf32, #[[LOW]]>
    // CHECK-NEXT: ttng.tmem_store
    %low = ttng.tmem_alloc : () -> !low
    ttng.tmem_store %z, %low, %true : tensor<64x64xf32, #blocked> -> !low
    // CHECK: %[[L:.*]] = ttng.tmem_load {{.*}} -> tensor<128x64xf32, #[[ROWS]]>
    // CHECK-NEXT: ttg.convert_layout %[[L]] : {{.*}} -> tensor<128x64xf32, #blocked
    %r = ttng.tmem_load %acc : !acc -> tensor<128x64xf32, #blocked>
    %s = arith.addf %r, %x : tensor<128x64xf32, #blocked>
    tt.return
  }
}
