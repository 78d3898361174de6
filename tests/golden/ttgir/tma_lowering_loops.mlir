// Stores through descriptors in loops: how long the bulk copies are in flight.
// CHECK: #[[SHARED:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// RUN: tessera opt %s -triton-nvidia-tma-lowering --target sm_90a --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared3 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, rank = 3}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // In a loop the copy stays in flight during the next iteration; the buffer is waited for before it is filled again.
  // CHECK-LABEL: @loop
  // CHECK: %[[L:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[SHARED]], #smem, mutable>
  // CHECK: scf.for
  // CHECK:   ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[L]]
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[L]]
  // CHECK-NOT: ttng.async_tma_store_wait
  // CHECK: }
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_dealloc %[[L]]
  tt.func public @loop(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c64 : i32 {
      %s = tt.load %p : !tt.ptr<f16>
      %v = tt.splat %s : f16 -> tensor<64x64xf16, #columns>
      tt.descriptor_store %d[%i, %c0], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #columns>
    }
    tt.return
  }
  // The next iteration loads what this one stored.
  // CHECK-LABEL: @in_place
  // CHECK: scf.for
  // CHECK:   ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK: }
  // CHECK-NEXT: tt.return
  tt.func public @in_place(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c64 : i32 {
      %v = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %w = arith.addf %v, %v : tensor<64x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c64], %w : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    }
    tt.return
  }
  // It would not fit beside what the loop needs: the buffer takes the place of one that is dead then.
  // CHECK-LABEL: @full
  // CHECK: scf.for
  // CHECK:   ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  tt.func public @full(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    scf.for %i = %c0 to %n step %c64 : i32 {
      %b = ttg.local_alloc : () -> !ttg.memdesc<28x64x64xf16, #shared3, #smem, mutable>
      %x = ttg.memdesc_index %b[%c0] : !ttg.memdesc<28x64x64xf16, #shared3, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.local_store %zero, %x : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %v = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c0], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    }
    tt.return
  }
  // Two stores that alternate have a buffer each, and wait for all copies but the other's.
  // CHECK-LABEL: @halves
  // CHECK: %[[X:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[SHARED]], #smem, mutable>
  // CHECK-NEXT: %[[Y:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[SHARED]], #smem, mutable>
  // CHECK: scf.for
  // CHECK:   ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[X]]
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[X]]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[Y]]
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[Y]]
  // CHECK: }
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // Room for one block either way.
  tt.func public @halves(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %b = ttg.local_alloc : () -> !ttg.memdesc<20x64x64xf16, #shared3, #smem, mutable>
    scf.for %i = %c0 to %n step %c64 : i32 {
      %x = ttg.memdesc_index %b[%c0] : !ttg.memdesc<20x64x64xf16, #shared3, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.local_store %zero, %x : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %v = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c0], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c64], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    }
    tt.return
  }
  // One of them is under a condition: the last copy may be from its own buffer.
  // CHECK-LABEL: @sometimes
  // CHECK: scf.for
  // CHECK-NOT: {pendings = 1 : i32}
  // CHECK: tt.return
  tt.func public @sometimes(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32, %c: i1) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %b = ttg.local_alloc : () -> !ttg.memdesc<20x64x64xf16, #shared3, #smem, mutable>
    scf.for %i = %c0 to %n step %c64 : i32 {
      %x = ttg.memdesc_index %b[%c0] : !ttg.memdesc<20x64x64xf16, #shared3, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.local_store %zero, %x : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %v = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      tt.descriptor_store %d[%i, %c0], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
      scf.if %c {
        tt.descriptor_store %d[%i, %c64], %v : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
      }
    }
    tt.return
  }
}
