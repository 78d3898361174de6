// Layouts of tensor memory that are not modelled, and buffers that warps of a partition would allocate, are errors.
// RUN: not tessera opt %s -allocate-tensor-memory --target sm_100a 2>&1 | FileCheck %s
#pair = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, twoCTAs = true>
#one = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#scales = #ttng.tensor_memory_scales_encoding<>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: 'ttng.tmem_alloc' buffers in the tensor memory of several blocks are not modelled
  // CHECK: 'ttng.tmem_alloc' scales in tensor memory are not modelled
  tt.func public @unknown() {
    %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #pair, #ttng.tensor_memory, mutable>
    %b = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #scales, #ttng.tensor_memory, mutable>
    // CHECK: [[@LINE+6]]:{{.*}}: 'ttng.tmem_alloc' must stand in the kernel itself
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 64>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #one, #ttng.tensor_memory, mutable>
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
