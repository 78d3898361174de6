// allocate-shared-memory where buffers that live at once are larger than the memory of a block: scratch of conversions
// is then not made smaller step by step, which could not help, and the error names the buffers alone. Where the scratch
// is what is too large, it is made smaller.
// RUN: not tessera opt %s -allocate-shared-memory --target gfx942 --split-input-file 2>&1 | FileCheck %s
// CHECK: allocate_shared_memory_too_much.mlir:[[@LINE+10]]:3: error: kernel 'buffers' needs 65544 bytes of shared memory, but a block on gfx942 has 65536
// CHECK-NEXT: allocate_shared_memory_too_much.mlir:[[@LINE+11]]:{{[0-9]+}}: note: 'ttg.local_alloc' needs 65536 bytes of shared memory
// CHECK-NEXT: allocate_shared_memory_too_much.mlir:[[@LINE+11]]:{{[0-9]+}}: note: 'ttg.local_alloc' needs 8 bytes of shared memory
// CHECK-NEXT: note: in pass 'allocate-shared-memory'
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @buffers() {
    %x = arith.constant dense<1.0> : tensor<128x128xf32, #rows>
    %large = ttg.local_alloc : () -> !ttg.memdesc<128x128xf32, #s, #smem, mutable>
    %small = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %small, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    %y = ttg.convert_layout %x : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
    ttg.local_store %y, %large : tensor<128x128xf32, #columns> -> !ttg.memdesc<128x128xf32, #s, #smem, mutable>
    ttng.inval_barrier %small : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    tt.return
  }
}

// -----
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: tt.func public @scratch
  // CHECK: ttg.convert_layout {{.*}}allocation.scratch
  tt.func public @scratch() {
    %x = arith.constant dense<1.0> : tensor<128x128xf32, #rows>
    %v = arith.constant dense<2.0> : tensor<64x128xf32, #rows>
    %half = ttg.local_alloc %v : (tensor<64x128xf32, #rows>) -> !ttg.memdesc<64x128xf32, #s, #smem, mutable>
    %y = ttg.convert_layout %x : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
    %z = ttg.local_load %half : !ttg.memdesc<64x128xf32, #s, #smem, mutable> -> tensor<64x128xf32, #columns>
    tt.return
  }
}
