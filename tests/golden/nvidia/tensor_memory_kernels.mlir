// A kernel without tensor memory allocates none, though another kernel of the module has some.
// RUN: tessera compile %s --kernel without --target sm_100a --emit ptx -o - | FileCheck %s
// CHECK: .entry with(
// CHECK: tcgen05.alloc
// CHECK: tcgen05.dealloc
// CHECK: .entry without(
// CHECK-NOT: tcgen05
// CHECK: st.global
#sum = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
!acc = !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @with(%x: f32) {
    %true = arith.constant true
    %v = tt.splat %x : f32 -> tensor<128x32xf32, #sum>
    %acc = ttng.tmem_alloc : () -> !acc
    ttng.tmem_store %v, %acc, %true : tensor<128x32xf32, #sum> -> !acc
    tt.return
  }
  tt.func public @without(%out: !tt.ptr<f32>, %x: f32) {
    tt.store %out, %x : !tt.ptr<f32>
    tt.return
  }
}
