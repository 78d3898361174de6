// tritongpu-optimize-dot-operands: conversions to dot operand layouts that move data between warps go through a buffer
// in shared memory; those within a thread or a warp stay conversions. Both of triton-opt's pass names run it.
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target sm_80 --verify-each --split-input-file | FileCheck %s
// The target is that of the module where none is given.
// RUN: sed 's/module attributes {/&ttg.target = "cuda:80", /' %s > %t && tessera opt %t -tritongpu-reduce-data-duplication --verify-each --split-input-file | FileCheck %s
// RUN: not tessera opt %s -tritongpu-reduce-data-duplication --split-input-file 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: tritongpu-optimize-dot-operands needs a target

// Rows of 64 bytes along K: two rows fill the banks once, and the eight rows that ldmatrix reads lie in different banks.
// CHECK: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @between_warps
// CHECK: %[[M:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #[[S]], #smem>
// CHECK: %[[A:.*]] = ttg.local_load %[[M]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
// CHECK: tt.dot %[[A]],
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @between_warps(%a: tensor<64x32xf16, #blocked>, %b: tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = ttg.convert_layout %a : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %1 = tt.dot %0, %b, %c : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
    tt.return %1 : tensor<64x64xf32, #mma>
  }
}

// -----

// The result of one dot as an operand of the next: a thread's registers hold what it needs.
// CHECK-LABEL: @in_registers
// CHECK-NOT: ttg.local_alloc
// CHECK: ttg.convert_layout {{.*}} -> tensor<64x32xf16, #ttg.dot_op
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_registers(%a: tensor<64x32xf16, #mma>) -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> {
    %0 = ttg.convert_layout %a : tensor<64x32xf16, #mma> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    tt.return %0 : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  }
}

// -----

// Between layouts neither of which is an operand's: not this pass's.
// CHECK-LABEL: @no_operand
// CHECK-NOT: ttg.local_alloc
// CHECK: ttg.convert_layout
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_operand(%a: tensor<64x32xf16, #rows>) -> tensor<64x32xf16, #columns> {
    %0 = ttg.convert_layout %a : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #columns>
    tt.return %0 : tensor<64x32xf16, #columns>
  }
}

// -----

// 8-bit operands across K that a loop loads are stored as asynchronous copies write them; rows a word's elements apart are
// in different banks.
// CHECK: #[[S:.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 4, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @bytes_across
// CHECK: ttg.local_alloc %{{.*}} : (tensor<32x64xi8, #blocked>) -> !ttg.memdesc<32x64xi8, #[[S]], #smem>
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bytes_across(%p: tensor<32x64x!tt.ptr<i8>, #blocked>, %a: tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %c: tensor<32x64xi32, #mma>, %n: i32) -> tensor<32x64xi32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<32x64xi32, #mma>) : i32 {
      %x = tt.load %p : tensor<32x64x!tt.ptr<i8>, #blocked>
      %b = ttg.convert_layout %x : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
      %d = tt.dot %a, %b, %acc : tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x64xi32, #mma>
      scf.yield %d : tensor<32x64xi32, #mma>
    }
    tt.return %s : tensor<32x64xi32, #mma>
  }
}

// -----

// More than a block's shared memory (256 KiB): stays a conversion, which is done in repetitions.
// CHECK-LABEL: @too_large
// CHECK-NOT: ttg.local_alloc
// CHECK: ttg.convert_layout {{.*}} -> tensor<512x256xf16, #ttg.dot_op
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @too_large(%a: tensor<512x256xf16, #blocked>, %b: tensor<256x16xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<512x16xf32, #mma>) -> tensor<512x16xf32, #mma> {
    %0 = ttg.convert_layout %a : tensor<512x256xf16, #blocked> -> tensor<512x256xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %1 = tt.dot %0, %b, %c : tensor<512x256xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<256x16xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<512x16xf32, #mma>
    tt.return %1 : tensor<512x16xf32, #mma>
  }
}
