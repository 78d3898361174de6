// On targets with TMA a kernel with descriptors that become pointers has two versions if a loop loads by such a one, or
// if none of its descriptors stays one.
// RUN: tessera opt %s --split-input-file -triton-nvidia-optimize-descriptor-encoding -triton-rewrite-tensor-descriptor-to-pointer --target sm_90a --verify-each | FileCheck %s

// One of two descriptors, by a condition: neither has a tensor map.
// CHECK-LABEL: @chosen
// CHECK: scf.if
// CHECK: scf.for
// CHECK: tt.load
// CHECK: } else {
// CHECK: scf.for
// CHECK: tt.load
// CHECK: } {tt.num_stages = 1 : i32}
tt.func public @chosen(%a: !tt.tensordesc<tensor<64x64xf16>>, %b: !tt.tensordesc<tensor<64x64xf16>>, %c: i1, %p: tensor<64x64x!tt.ptr<f16>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %d = arith.select %c, %a, %b : !tt.tensordesc<tensor<64x64xf16>>
  scf.for %k = %c0 to %n step %c64 : i32 {
    %v = tt.descriptor_load %d[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.store %p, %v : tensor<64x64x!tt.ptr<f16>>
  }
  tt.return
}

// -----

// Beside one that stays. A loop whose accesses are all TMA's is pipelined in both versions.
// CHECK-LABEL: @narrow_beside_tma
// CHECK: scf.if
// CHECK: } else {
// CHECK: scf.for
// CHECK-NEXT: tt.descriptor_load
// CHECK-NEXT: tt.descriptor_store
// CHECK-NEXT: }{{$}}
// CHECK: scf.for
// CHECK: tt.load
// CHECK: } {tt.num_stages = 1 : i32}
tt.func public @narrow_beside_tma(%a: !tt.tensordesc<tensor<64x64xf16>>, %narrow: !tt.tensordesc<tensor<64x4xf16>>, %p: tensor<64x4x!tt.ptr<f16>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %k = %c0 to %n step %c64 : i32 {
    %v = tt.descriptor_load %a[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.descriptor_store %a[%k, %c0], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  }
  scf.for %k = %c0 to %n step %c64 : i32 {
    %v = tt.descriptor_load %narrow[%k, %c0] : !tt.tensordesc<tensor<64x4xf16>> -> tensor<64x4xf16>
    tt.store %p, %v : tensor<64x4x!tt.ptr<f16>>
  }
  tt.return
}

// -----

// Not: only stores, or a load in no loop, by pointers beside a loop that TMA serves; descriptors that the kernel makes.
// CHECK-LABEL: @stored_beside_tma
// CHECK-NOT: scf.if
// CHECK: tt.descriptor_load
// CHECK: tt.store
tt.func public @stored_beside_tma(%a: !tt.tensordesc<tensor<64x64xf16>>, %narrow: !tt.tensordesc<tensor<64x4xf16>>, %p: tensor<64x64x!tt.ptr<f16>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %k = %c0 to %n step %c64 : i32 {
    %v = tt.descriptor_load %a[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.store %p, %v : tensor<64x64x!tt.ptr<f16>>
  }
  %w = tt.descriptor_load %narrow[%c0, %c0] : !tt.tensordesc<tensor<64x4xf16>> -> tensor<64x4xf16>
  tt.descriptor_store %narrow[%n, %c0], %w : !tt.tensordesc<tensor<64x4xf16>>, tensor<64x4xf16>
  tt.return
}

// -----

// CHECK-LABEL: @made_beside_tma
// CHECK-NOT: scf.if
// CHECK: tt.descriptor_load
// CHECK: tt.load
tt.func public @made_beside_tma(%a: !tt.tensordesc<tensor<64x64xf16>>, %q: !tt.ptr<f16>, %p: tensor<64x64x!tt.ptr<f16>>, %n: i32, %s: i64) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %q, [%n, %n], [%s, %c1] : <f16>, <tensor<64x64xf16>>
  scf.for %k = %c0 to %n step %c64 : i32 {
    %v = tt.descriptor_load %a[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %w = tt.descriptor_load %d[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.store %p, %v : tensor<64x64x!tt.ptr<f16>>
    tt.store %p, %w : tensor<64x64x!tt.ptr<f16>>
  }
  tt.return
}
