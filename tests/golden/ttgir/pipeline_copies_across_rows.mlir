// tritongpu-pipeline: bytes whose rows run across those of the buffer that wgmma reads. They are copied as they lie, in
// vectors; each iteration reads squares of four by four, by words, and stores words along the buffer's rows.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_90a | FileCheck %s
// CHECK-DAG: #[[SQUARES:.*]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [0, 1]}>
// Rows 4, 8 and 16 are moved by vectors, so that eight lanes that read rows four apart read all banks.
// CHECK-DAG: #[[COPIED:.*]] = #ttg.shared_linear<{offset = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 16], [9, 0], [18, 0], [32, 0]]}, alignment = 16>
// CHECK-DAG: #[[READ:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
// CHECK-LABEL: @across
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xi8, #[[COPIED]], #smem, mutable>
// CHECK: scf.for
// CHECK: %[[S:.*]] = ttg.local_load {{.*}} -> tensor<64x32xi8, #[[SQUARES]]>
// CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %[[S]] {{.*}} -> !ttg.memdesc<64x32xi8, #[[READ]], #smem>
// CHECK: ttng.warp_group_dot %{{.*}}, %[[B]],
// CHECK: ttg.async_copy_global_to_local {{.*}} -> <64x32xi8, #[[COPIED]], #smem, mutable>
// CHECK: scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 32]}>
#left = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#right = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @across(%p: tensor<64x32x!tt.ptr<i8>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %a: !ttg.memdesc<128x64xi8, #left, #smem>, %n: i32) -> tensor<128x32xi32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<128x32xi32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x32xi32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<i8>, #blocked>
      %b = ttg.local_alloc %x : (tensor<64x32xi8, #blocked>) -> !ttg.memdesc<64x32xi8, #right, #smem>
      %d = ttng.warp_group_dot %a, %b, %s : !ttg.memdesc<128x64xi8, #left, #smem> * !ttg.memdesc<64x32xi8, #right, #smem> -> tensor<128x32xi32, #mma>
      scf.yield %d : tensor<128x32xi32, #mma>
    }
    tt.return %r : tensor<128x32xi32, #mma>
  }
}
