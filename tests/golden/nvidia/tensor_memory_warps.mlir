// A thread of a block of 16 warps has 128 registers, one of 32 warps 64, with or without ttg.maxnreg: an access to tensor
// memory takes half of them.
// RUN: tessera compile %s --target sm_100a --emit ptx -o - | FileCheck %s
// RUN: sed 's/"ttg.num-warps" = 16/"ttg.num-warps" = 32/; s/, \[0, 64\]\], lane/], lane/; s/\[64, 0\], \[0, 128\]/[64, 0], [0, 64], [0, 128]/' %s | tessera compile - --target sm_100a --emit ptx -o - | FileCheck %s --check-prefix=MORE
// CHECK: .reqntid 512
// CHECK-COUNT-2: tcgen05.st.sync.aligned.32x32b.x64.b32
// CHECK-COUNT-2: tcgen05.ld.sync.aligned.32x32b.x64.b32
// MORE: .reqntid 1024
// MORE-COUNT-2: tcgen05.st.sync.aligned.32x32b.x32.b32
// MORE-COUNT-2: tcgen05.ld.sync.aligned.32x32b.x32.b32
#sum = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 128], [0, 256]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
!acc = !ttg.memdesc<128x512xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%out: !tt.ptr<f32>, %v: f32) {
    %true = arith.constant true
    %zero = tt.splat %v : f32 -> tensor<128x512xf32, #sum>
    %acc = ttng.tmem_alloc : () -> !acc
    ttng.tmem_store %zero, %acc, %true : tensor<128x512xf32, #sum> -> !acc
    %r = ttng.tmem_load %acc : !acc -> tensor<128x512xf32, #sum>
    %p = tt.splat %out : !tt.ptr<f32> -> tensor<128x512x!tt.ptr<f32>, #sum>
    %s = arith.addf %r, %r : tensor<128x512xf32, #sum>
    tt.store %p, %s : tensor<128x512x!tt.ptr<f32>, #sum>
    tt.return
  }
}
