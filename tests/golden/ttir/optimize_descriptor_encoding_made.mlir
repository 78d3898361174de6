// Descriptors that a kernel makes stay descriptors (with the layout of their blocks) if a map of the kernel serves the
// dots of a loop within a loop. Accesses begin outside of tensors without elements.
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding --target sm_90a --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding --target sm_80 --verify-each | FileCheck %s --check-prefix=NO-TMA
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding --target sm_90a --remarks -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// NO-TMA-NOT: nvmma_shared

// %b's sizes are known, %a's are not. The third is used in one loop only; the fourth in none.
// CHECK-LABEL: @tiles
// CHECK-DAG: %[[NO_ROWS:.*]] = arith.cmpi slt, %arg4, %c1_i32
// CHECK-DAG: %[[NO_COLUMNS:.*]] = arith.cmpi slt, %arg5, %c1_i32
// CHECK: %[[A:.*]] = tt.make_tensor_descriptor %arg0, [%arg4, %arg5], {{.*}} : <f16>, <tensor<64x64xf16, #[[LAYOUT:.*]]>>
// CHECK: tt.make_tensor_descriptor %arg1, {{.*}} <tensor<64x64xf16, #[[LAYOUT]]>>
// CHECK: tt.make_tensor_descriptor %arg2, {{.*}} <tensor<64x64xf32, #{{.*}}>>
// CHECK: tt.make_tensor_descriptor %arg3, {{.*}} <tensor<32x64xf32>>
// CHECK: scf.for
// CHECK: scf.for %[[K:.*]] = %c0_i32 to %arg5
// CHECK: %[[ROW:.*]] = arith.select %[[NO_ROWS]], %c1073741824_i32{{.*}}, %tile
// CHECK: %[[COLUMN:.*]] = arith.select %[[NO_COLUMNS]], %c1073741824_i32{{.*}}, %[[K]]
// CHECK: tt.descriptor_load %[[A]][%[[ROW]], %[[COLUMN]]]
// CHECK: tt.descriptor_load %{{.*}}[%[[K]], %{{.*}}] : !tt.tensordesc<tensor<64x64xf16, #[[LAYOUT]]>>
// CHECK: tt.descriptor_store
// REMARK: the descriptor is a tensor map: its blocks are copied by TMA [triton-nvidia-optimize-descriptor-encoding:TensorMapMade]
// REMARK: the descriptor becomes pointers and masks: no loop after it uses it
tt.func public @tiles(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %r: !tt.ptr<f32>, %s: !tt.ptr<f32>, %m: i32, %k: i32, %tiles: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tt.make_tensor_descriptor %p, [%m, %k], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  %b = tt.make_tensor_descriptor %q, [%c64, %c64], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  %c = tt.make_tensor_descriptor %r, [%m, %c64], [%stride, %one] : !tt.ptr<f32>, !tt.tensordesc<tensor<64x64xf32>>
  %d = tt.make_tensor_descriptor %s, [%m, %c64], [%stride, %one] : !tt.ptr<f32>, !tt.tensordesc<tensor<32x64xf32>>
  %once = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<32x64xf32>> -> tensor<32x64xf32>
  tt.descriptor_store %d[%c64, %c0], %once : !tt.tensordesc<tensor<32x64xf32>>, tensor<32x64xf32>
  scf.for %tile = %c0 to %tiles step %c1  : i32 {
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zeros) -> (tensor<64x64xf32>)  : i32 {
      %x = tt.descriptor_load %a[%tile, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.descriptor_load %b[%i, %tile] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.descriptor_store %c[%tile, %c0], %sum : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  }
  tt.return
}

// -----

// Not: one loop alone, an innermost stride that is not 1, NaN padding of bytes, a gather.
// CHECK-LABEL: @others
// CHECK-NOT: nvmma_shared
// CHECK: tt.return
// REMARK: no loop within a loop after it loads operands of dots by it
// REMARK: its innermost stride is not known to be 1
// REMARK: no tensor map pads its elements with NaN
// REMARK: 'tt.descriptor_gather' at {{.*}} uses the descriptor for something else than loading, storing or reducing a block
tt.func public @others(%p: !tt.ptr<f16>, %o: !tt.ptr<f8E5M2>, %n: i32, %stride: i64, %at: tensor<32xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<64x64xf32>)  : i32 {
    %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %next = tt.dot %x, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %b = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %stride] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  %c = tt.make_tensor_descriptor %o, [%n, %n], [%stride, %one] {padding = 2 : i32} : !tt.ptr<f8E5M2>, !tt.tensordesc<tensor<64x64xf8E5M2>>
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<1x64xf16>>
  scf.for %tile = %c0 to %n step %c1  : i32 {
    scf.for %i = %c0 to %n step %c64  : i32 {
      %x = tt.descriptor_load %b[%tile, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.dot %x, %x, %zeros : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %z = tt.descriptor_load %c[%tile, %i] : !tt.tensordesc<tensor<64x64xf8E5M2>> -> tensor<64x64xf8E5M2>
      %w = tt.descriptor_gather %d[%at, %i] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
    }
  }
  tt.return
}

// -----

// Nothing orders TMA's copies with ordinary accesses: not where a pointer writes what is loaded, nor where it reads what
// is stored; loads beside loads are fine.
// CHECK-LABEL: @same_memory
// CHECK: tt.make_tensor_descriptor %arg0, {{.*}} <tensor<64x64xf16>>
// CHECK: tt.make_tensor_descriptor %arg1, {{.*}} <tensor<64x64xf16, #{{.*}}>>
// CHECK: tt.make_tensor_descriptor %arg2, {{.*}} <tensor<64x64xf32>>
// REMARK: 'tt.store' at {{.*}} may reach its memory, and nothing orders that with TMA's copies
// REMARK: the descriptor is a tensor map
// REMARK: 'tt.load' at {{.*}} may reach its memory, and nothing orders that with TMA's copies
tt.func public @same_memory(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %r: !tt.ptr<f32>, %n: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %first = tt.load %q : !tt.ptr<f16>
  tt.store %p, %first : !tt.ptr<f16>
  %a = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  %b = tt.make_tensor_descriptor %q, [%n, %n], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  %c = tt.make_tensor_descriptor %r, [%n, %n], [%stride, %one] : !tt.ptr<f32>, !tt.tensordesc<tensor<64x64xf32>>
  scf.for %tile = %c0 to %n step %c64  : i32 {
    %old = tt.load %r : !tt.ptr<f32>
    %start = tt.splat %old : f32 -> tensor<64x64xf32>
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start) -> (tensor<64x64xf32>)  : i32 {
      %x = tt.descriptor_load %a[%tile, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.descriptor_load %b[%i, %tile] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.descriptor_store %c[%tile, %c0], %sum : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  }
  tt.return
}

// -----

// An atomic operation that orders memory: what other programs may have stored before is not ordered with TMA's copies.
// CHECK-LABEL: @semaphore
// CHECK-NOT: nvmma_shared
// REMARK: 'tt.atomic_rmw' at {{.*}} may order accesses, but not TMA's
tt.func public @semaphore(%p: !tt.ptr<f16>, %lock: !tt.ptr<i32>, %n: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %true = arith.constant true
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
  scf.for %tile = %c0 to %n step %c64  : i32 {
    %ticket = tt.atomic_rmw add, acq_rel, gpu, %lock, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<64x64xf32>)  : i32 {
      %x = tt.descriptor_load %a[%ticket, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %next = tt.dot %x, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
  }
  tt.return
}
