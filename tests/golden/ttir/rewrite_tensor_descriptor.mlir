// Tensor descriptors become plain pointers: every access, arguments of kernels, and loops.
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-descriptor-to-pointer --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-descriptor-to-pointer -cse -loop-invariant-code-motion -cse -canonicalize --verify-each | FileCheck %s --check-prefix=CANON

// All dimensions are checked; the padding is known where the descriptor is made here.
// CHECK-LABEL: @load_store
// CHECK-NOT: tensordesc
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = cg : tensor<4x8x!tt.ptr<f32>>
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x!tt.ptr<f32>>
// CANON-LABEL: @load_store
// CANON: arith.constant dense<0x7FC00000> : tensor<4x8xf32>
// CANON-NOT: arith.select
// CANON: tt.store
tt.func public @load_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %m: i32, %i: i32) {
  %c3 = arith.constant 3 : i32
  %c1 = arith.constant 1 : i64
  %c9 = arith.constant 9 : i64
  %c9_i32 = arith.constant 9 : i32
  %d = tt.make_tensor_descriptor %p, [%m, %c9_i32], [%c9, %c1] {padding = 2 : i32} : <f32>, <tensor<4x8xf32>>
  %e = tt.make_tensor_descriptor %q, [%m, %c9_i32], [%c9, %c1] : <f32>, <tensor<4x8xf32>>
  %v = tt.descriptor_load %d[%i, %c3] cacheModifier = cg : !tt.tensordesc<tensor<4x8xf32>> -> tensor<4x8xf32>
  tt.descriptor_store %e[%c3, %i], %v : !tt.tensordesc<tensor<4x8xf32>>, tensor<4x8xf32>
  tt.return
}

// -----

// A kernel's argument: pointer, shape, strides, whether the padding is NaN; other arguments keep their attributes. The
// base and the outer strides are multiples of 16 bytes, the last stride is 1: nothing uses its argument.
// CHECK-LABEL: @argument
// CHECK-SAME: (%{{.*}}: !tt.ptr<f16> {tessera.descriptor = !tt.tensordesc<tensor<16x64xf16>>, tt.divisibility = 16 : i32}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64 {tt.divisibility = 8 : i32}, %[[LAST:.*]]: i64, %[[NAN:.*]]: i1, %{{.*}}: i32 {tt.divisibility = 16 : i32})
// CHECK-NOT: %[[LAST]]
// CHECK: arith.select %[[NAN]], %{{.*}}, %{{.*}} : tensor<16x64xf16>
tt.func public @argument(%d: !tt.tensordesc<tensor<16x64xf16>>, %i: i32 {tt.divisibility = 16 : i32}) -> tensor<16x64xf16> {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  tt.return %v : tensor<16x64xf16>
}

// -----

// Data of fewer dimensions than the block: the dimensions of size 1 are scalar. Unsigned elements read as zero outside.
// CHECK-LABEL: @lower_rank
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : i64
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: tt.load %{{.*}} : tensor<8x!tt.ptr<i8>>
tt.func public @lower_rank(%p: !tt.ptr<i8>, %m: i32, %i: i32) -> tensor<8xi8> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %c10 = arith.constant 10 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %m], [%c10, %c1] : <i8>, <tensor<1x8xui8>>
  %v = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<tensor<1x8xui8>> -> tensor<8xi8>
  tt.return %v : tensor<8xi8>
}

// -----

// Rows by index. Signed numbers: -1 is no row.
// CHECK-LABEL: @rows
// CHECK: %[[ROWS:.*]] = arith.extsi %{{.*}} : tensor<8xi32> to tensor<8xi64>
// CHECK: arith.cmpi sge, %[[ROWS]], %{{.*}} : tensor<8xi64>
// CHECK: tt.load %{{.*}} : tensor<8x4x!tt.ptr<f32>>
// CHECK: tt.store %{{.*}} : tensor<8x4x!tt.ptr<f32>>
tt.func public @rows(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %y: i32) {
  %c1 = arith.constant 1 : i64
  %c12 = arith.constant 12 : i64
  %c12_i32 = arith.constant 12 : i32
  %d = tt.make_tensor_descriptor %p, [%n, %c12_i32], [%c12, %c1] : <f32>, <tensor<1x4xf32>>
  %e = tt.make_tensor_descriptor %q, [%n, %c12_i32], [%c12, %c1] : <f32>, <tensor<1x4xf32>>
  %x = tt.make_range {start = -1 : i32, end = 7 : i32} : tensor<8xi32>
  %v = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x4xf32>>, tensor<8xi32>, i32) -> tensor<8x4xf32>
  tt.descriptor_scatter %e[%x, %y], %v : !tt.tensordesc<tensor<1x4xf32>>, tensor<8xi32>, i32, tensor<8x4xf32>
  tt.return
}

// -----

// Atomics.
// CHECK-LABEL: @reduce
// CHECK: tt.atomic_rmw fadd, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x4x!tt.ptr<f32>>, tensor<4x4xf32>, tensor<4x4xi1>)
// CHECK: tt.atomic_rmw umin, release, gpu, {{.*}} (tensor<4x4x!tt.ptr<i32>>, tensor<4x4xi32>, tensor<4x4xi1>)
tt.func public @reduce(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %n: i32) {
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %c2 = arith.constant 2 : i32
  %f = arith.constant dense<1.5> : tensor<4x4xf32>
  %i = arith.constant dense<3> : tensor<4x4xi32>
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%c5, %c1] : <f32>, <tensor<4x4xf32>>
  %e = tt.make_tensor_descriptor %q, [%n, %n], [%c5, %c1] : <i32>, <tensor<4x4xui32>>
  tt.descriptor_reduce add, %d[%c2, %c2], %f : !tt.tensordesc<tensor<4x4xf32>>, tensor<4x4xf32>
  tt.descriptor_reduce min, %e[%c2, %c2], %i : !tt.tensordesc<tensor<4x4xui32>>, tensor<4x4xi32>
  tt.return
}

// -----

// A descriptor that a loop carries: what does not change is not carried in the end, what does is.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} -> (!tt.ptr<f32>, i64, i64, i1, tensor<8xf32>)
// CANON-LABEL: @carried
// CANON: scf.for {{.*}} -> (!tt.ptr<f32>, tensor<8xf32>)
tt.func public @carried(%p: !tt.ptr<f32>, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %c1_i32 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %d = tt.make_tensor_descriptor %p, [%n], [%c1] : <f32>, <tensor<8xf32>>
  %r:2 = scf.for %k = %c0 to %c3 step %c1_i32 iter_args(%x = %d, %sum = %zero) -> (!tt.tensordesc<tensor<8xf32>>, tensor<8xf32>) : i32 {
    %v = tt.descriptor_load %x[%c0] : !tt.tensordesc<tensor<8xf32>> -> tensor<8xf32>
    %t = arith.addf %sum, %v : tensor<8xf32>
    %off = arith.muli %k, %c3 : i32
    %q = tt.addptr %p, %off : !tt.ptr<f32>, i32
    %e = tt.make_tensor_descriptor %q, [%n], [%c1] : <f32>, <tensor<8xf32>>
    scf.yield %e, %t : !tt.tensordesc<tensor<8xf32>>, tensor<8xf32>
  }
  tt.return %r#1 : tensor<8xf32>
}
