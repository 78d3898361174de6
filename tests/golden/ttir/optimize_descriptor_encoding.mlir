// Descriptor arguments that TMA can serve get the layout of their blocks in shared memory, by shape and element type.
// All others are left for triton-rewrite-tensor-descriptor-to-pointer.
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding --target sm_90a --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding --target sm_80 --verify-each | FileCheck %s --check-prefix=NO-TMA
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding --target gfx942 --verify-each | FileCheck %s --check-prefix=NO-TMA
// NO-TMA-NOT: nvmma_shared

// Rows of 128 bytes and more, of 64, of 32 and of 16 bytes.
// CHECK-DAG: #[[R128:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[R64:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
// CHECK-DAG: #[[R32:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>
// CHECK-DAG: #[[R16:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
// CHECK-LABEL: @rows
// CHECK-SAME: !tt.tensordesc<tensor<16x128xbf16, #[[R128]]>>
// CHECK-SAME: !tt.tensordesc<tensor<16x64xf8E4M3FN, #[[R64]]>>
// CHECK-SAME: !tt.tensordesc<tensor<16x8xf32, #[[R32]]>>
// CHECK-SAME: !tt.tensordesc<tensor<16x8xf16, #[[R16]]>>
tt.func public @rows(%a: !tt.tensordesc<tensor<16x128xbf16>>, %b: !tt.tensordesc<tensor<16x64xf8E4M3FN>>, %c: !tt.tensordesc<tensor<16x8xf32>>, %d: !tt.tensordesc<tensor<16x8xf16>>, %i: i32 {tt.divisibility = 16 : i32}) {
  %x = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<tensor<16x128xbf16>> -> tensor<16x128xbf16>
  tt.descriptor_store %a[%i, %i], %x : !tt.tensordesc<tensor<16x128xbf16>>, tensor<16x128xbf16>
  %y = tt.descriptor_load %b[%i, %i] : !tt.tensordesc<tensor<16x64xf8E4M3FN>> -> tensor<16x64xf8E4M3FN>
  tt.descriptor_store %b[%i, %i], %y : !tt.tensordesc<tensor<16x64xf8E4M3FN>>, tensor<16x64xf8E4M3FN>
  %z = tt.descriptor_load %c[%i, %i] : !tt.tensordesc<tensor<16x8xf32>> -> tensor<16x8xf32>
  tt.descriptor_reduce add, %c[%i, %i], %z : !tt.tensordesc<tensor<16x8xf32>>, tensor<16x8xf32>
  %w = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<16x8xf16>> -> tensor<16x8xf16>
  tt.descriptor_store %d[%i, %i], %w : !tt.tensordesc<tensor<16x8xf16>>, tensor<16x8xf16>
  tt.return
}

// -----

// Fewer than eight rows are not swizzled, nor is a vector; leading dimensions of size 1 may be dropped.
// CHECK-DAG: #[[PLAIN:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>
// CHECK-DAG: #[[VECTOR:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32, rank = 1}>
// CHECK-DAG: #[[CUBE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32, rank = 3}>
// CHECK-LABEL: @ranks
// CHECK-SAME: !tt.tensordesc<tensor<4x64xf32, #[[PLAIN]]>>
// CHECK-SAME: !tt.tensordesc<tensor<128xsi32, #[[VECTOR]]>>
// CHECK-SAME: !tt.tensordesc<tensor<1x32x32xf32, #[[CUBE]]>>
tt.func public @ranks(%a: !tt.tensordesc<tensor<4x64xf32>>, %b: !tt.tensordesc<tensor<128xsi32>>, %c: !tt.tensordesc<tensor<1x32x32xf32>>, %i: i32 {tt.divisibility = 16 : i32}) {
  %x = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<tensor<4x64xf32>> -> tensor<4x64xf32>
  tt.descriptor_store %a[%i, %i], %x : !tt.tensordesc<tensor<4x64xf32>>, tensor<4x64xf32>
  %y = tt.descriptor_load %b[%i] : !tt.tensordesc<tensor<128xsi32>> -> tensor<128xi32>
  tt.descriptor_reduce min, %b[%i], %y : !tt.tensordesc<tensor<128xsi32>>, tensor<128xi32>
  %z = tt.descriptor_load %c[%i, %i, %i] : !tt.tensordesc<tensor<1x32x32xf32>> -> tensor<32x32xf32>
  tt.descriptor_store %c[%i, %i, %i], %z : !tt.tensordesc<tensor<1x32x32xf32>>, tensor<32x32xf32>
  tt.return
}

// -----

// Stores whose blocks may begin anywhere in a row: not by TMA. Loads may begin anywhere.
// CHECK-LABEL: @odd
// CHECK-SAME: %[[FROM:.*]]: !tt.tensordesc<tensor<16x64xf16, #{{.*}}>>, %[[TO:.*]]: !tt.tensordesc<tensor<16x64xf16>>,
tt.func public @odd(%from: !tt.tensordesc<tensor<16x64xf16>>, %to: !tt.tensordesc<tensor<16x64xf16>>, %i: i32) {
  %c1 = arith.constant 1 : i32
  %n = arith.addi %i, %c1 : i32
  %x = tt.descriptor_load %from[%i, %n] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %to[%i, %n], %x : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
}

// -----

// Not: rows of 8 bytes, data of another shape, a reduction that TMA lacks, gathers, loops that exchange two descriptors,
// calls, arguments without uses, functions that are no kernels.
// CHECK-NOT: nvmma_shared
tt.func public @others(%narrow: !tt.tensordesc<tensor<16x4xf16>>, %reshaped: !tt.tensordesc<tensor<16x64xf16>>, %max: !tt.tensordesc<tensor<16x64xf32>>, %rows: !tt.tensordesc<tensor<1x64xf16>>, %u: !tt.tensordesc<tensor<32x64xf16>>, %v: !tt.tensordesc<tensor<32x64xf16>>, %passed: !tt.tensordesc<tensor<64x64xf16>>, %unused: !tt.tensordesc<tensor<8x64xf16>>, %i: i32, %at: tensor<32xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tt.descriptor_load %narrow[%i, %i] : !tt.tensordesc<tensor<16x4xf16>> -> tensor<16x4xf16>
  tt.descriptor_store %narrow[%i, %i], %a : !tt.tensordesc<tensor<16x4xf16>>, tensor<16x4xf16>
  %b = tt.descriptor_load %reshaped[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<1024xf16>
  %b1 = tt.reshape %b : tensor<1024xf16> -> tensor<16x64xf16>
  tt.descriptor_store %reshaped[%i, %i], %b1 : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  %c = tt.descriptor_load %max[%i, %i] : !tt.tensordesc<tensor<16x64xf32>> -> tensor<16x64xf32>
  tt.descriptor_reduce max, %max[%i, %i], %c : !tt.tensordesc<tensor<16x64xf32>>, tensor<16x64xf32>
  %d = tt.descriptor_gather %rows[%at, %i] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  %p:2 = scf.for %k = %c0 to %i step %c1 iter_args(%x = %u, %y = %v) -> (!tt.tensordesc<tensor<32x64xf16>>, !tt.tensordesc<tensor<32x64xf16>>)  : i32 {
    tt.descriptor_store %x[%k, %k], %d : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
    scf.yield %y, %x : !tt.tensordesc<tensor<32x64xf16>>, !tt.tensordesc<tensor<32x64xf16>>
  }
  tt.call @callee(%passed) : (!tt.tensordesc<tensor<64x64xf16>>) -> ()
  tt.return
}
tt.func private @callee(%d: !tt.tensordesc<tensor<64x64xf16>>) attributes {noinline = true} {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  tt.descriptor_store %d[%c0, %c0], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  tt.return
}

// -----

// Other blocks may store through %a what this one loads, when the atomic operation says so: neither that nor a barrier
// orders TMA's copies with others. %b is only loaded from.
// CHECK: #[[B:.*]] = #ttg.nvmma_shared
// CHECK-LABEL: @shared_between_blocks
// CHECK-SAME: %{{.*}}: !tt.tensordesc<tensor<16x64xf16>>
// CHECK-SAME: %{{.*}}: !tt.tensordesc<tensor<16x64xf16, #[[B]]>>
tt.func public @shared_between_blocks(%a: !tt.tensordesc<tensor<16x64xf16>>, %b: !tt.tensordesc<tensor<16x64xf16>>, %lock: !tt.ptr<i32>, %one: i32, %true: i1) {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %b[%c0, %c0] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %a[%c0, %c0], %x : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  %arrived = tt.atomic_rmw add, acq_rel, gpu, %lock, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %y = tt.descriptor_load %a[%arrived, %c0] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.descriptor_store %a[%arrived, %c0], %y : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
  tt.return
}
