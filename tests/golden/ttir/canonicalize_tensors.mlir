// canonicalize on tensors and memory: splats, views of views, constant masks; and what must stay.
// RUN: tessera opt %s --split-input-file -canonicalize --verify-each | FileCheck %s

// CHECK-LABEL: @splats
// CHECK-SAME: %[[X:.*]]: i32
// CHECK-DAG: %[[C:.*]] = arith.constant dense<7> : tensor<2x4xi32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<3> : tensor<1xi32>
// CHECK: %[[S:.*]] = tt.splat %[[X]] : i32 -> tensor<4x2xi32>
// CHECK-NEXT: tt.return %[[S]], %[[C]], %[[X]], %[[Z]]
tt.func public @splats(%x: i32) -> (tensor<4x2xi32>, tensor<2x4xi32>, i32, tensor<1xi32>) {
  %0 = tt.splat %x : i32 -> tensor<4xi32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %2 = tt.broadcast %1 : tensor<1x4xi32> -> tensor<2x4xi32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
  %c = arith.constant dense<7> : tensor<8xi32>
  %4 = tt.reshape %c : tensor<8xi32> -> tensor<2x4xi32>
  %one = tt.splat %x : i32 -> tensor<1xi32>
  %5 = tt.unsplat %one : tensor<1xi32>
  %6 = tt.make_range {start = 3 : i32, end = 4 : i32} : tensor<1xi32>
  tt.return %3, %4, %5, %6 : tensor<4x2xi32>, tensor<2x4xi32>, i32, tensor<1xi32>
}

// -----

// CHECK-LABEL: @views
// CHECK: %[[R:.*]] = tt.make_range
// CHECK-NEXT: %[[E:.*]] = tt.expand_dims %[[R]] {axis = 0 : i32}
// CHECK-NEXT: %[[B:.*]] = tt.broadcast %[[E]] : tensor<1x8xi32> -> tensor<4x8xi32>
// CHECK-NEXT: %[[P:.*]] = tt.reshape %[[B]] : tensor<4x8xi32> -> tensor<2x16xi32>
// CHECK-NEXT: tt.return %[[B]], %[[P]], %[[B]]
tt.func public @views() -> (tensor<4x8xi32>, tensor<2x16xi32>, tensor<4x8xi32>) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %b = tt.broadcast %e : tensor<1x8xi32> -> tensor<4x8xi32>
  %s = tt.broadcast %b : tensor<4x8xi32> -> tensor<4x8xi32>
  %x = tt.reshape %b : tensor<4x8xi32> -> tensor<8x4xi32>
  %y = tt.reshape %x : tensor<8x4xi32> -> tensor<2x16xi32>
  %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %u = tt.trans %t {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  tt.return %s, %y, %u : tensor<4x8xi32>, tensor<2x16xi32>, tensor<4x8xi32>
}

// -----

// A rotation of three dimensions twice; split of join.
// CHECK-LABEL: @more_views
// CHECK: tt.trans %{{.*}} {order = array<i32: 2, 0, 1>}
// CHECK-NOT: tt.split
// CHECK: tt.return
tt.func public @more_views(%x: i32) -> (tensor<8x2x4xi32>, tensor<64xi32>, tensor<64xi32>) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %b = tt.reshape %r : tensor<64xi32> -> tensor<2x4x8xi32>
  %s = tt.trans %b {order = array<i32: 1, 2, 0>} : tensor<2x4x8xi32> -> tensor<4x8x2xi32>
  %t = tt.trans %s {order = array<i32: 1, 2, 0>} : tensor<4x8x2xi32> -> tensor<8x2x4xi32>
  %q = tt.splat %x : i32 -> tensor<64xi32>
  %a = arith.addi %r, %q : tensor<64xi32>
  %j = tt.join %r, %a : tensor<64xi32> -> tensor<64x2xi32>
  %l, %h = tt.split %j : tensor<64x2xi32> -> tensor<64xi32>
  tt.return %t, %l, %h : tensor<8x2x4xi32>, tensor<64xi32>, tensor<64xi32>
}

// -----

// Constant masks.
// CHECK-LABEL: @masks
// CHECK: %[[O:.*]] = tt.splat %{{.*}} : i32 -> tensor<8xi32>
// CHECK: %[[V:.*]] = tt.load %{{[^,]*}} : tensor<8x!tt.ptr<i32>>
// CHECK: tt.store %{{.*}}, %[[V]] : tensor<8x!tt.ptr<i32>>
// CHECK-NOT: tt.store
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{[^,]*}}, %{{[^,]*}} : (
// CHECK-NOT: tt.atomic_rmw
// CHECK: tt.return %[[O]]
tt.func public @masks(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %x: i32) -> tensor<8xi32> {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %o = tt.splat %x : i32 -> tensor<8xi32>
  %s = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %a = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %u = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %b = tt.addptr %u, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %all = arith.constant dense<true> : tensor<8xi1>
  %none = arith.constant dense<false> : tensor<8xi1>
  %v = tt.load %a, %all, %o : tensor<8x!tt.ptr<i32>>
  %w = tt.load %a, %none, %o : tensor<8x!tt.ptr<i32>>
  tt.store %b, %v, %all : tensor<8x!tt.ptr<i32>>
  tt.store %b, %w, %none : tensor<8x!tt.ptr<i32>>
  %f = tt.atomic_rmw add, relaxed, gpu, %b, %o, %all : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  %g = tt.atomic_rmw add, relaxed, gpu, %b, %o, %none : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  tt.return %w : tensor<8xi32>
}

// -----

// Loads: an unused one is removed, volatile ones stay whatever their mask; addptr of zero is removed.
// CHECK-LABEL: @loads
// CHECK-SAME: %[[P:.*]]: !tt.ptr<i32>
// CHECK: tt.load %[[P]], %{{.*}} {isVolatile = true} : !tt.ptr<i32>
// CHECK-NEXT: tt.return
tt.func public @loads(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %false = arith.constant false
  %a = tt.addptr %p, %c0 : !tt.ptr<i32>, i32
  %dead = tt.load %a : !tt.ptr<i32>
  %volatile = tt.load %a, %false {isVolatile = true} : !tt.ptr<i32>
  tt.return
}

// -----

// reshape with allow_reorder is not undone; assertions that hold go.
// CHECK-LABEL: @reorder
// CHECK: tt.reshape
// CHECK-NEXT: tt.reshape
// CHECK-NOT: tt.assert
// CHECK: tt.return
tt.func private @reorder(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %true = arith.constant dense<true> : tensor<4xi1>
  tt.assert %true, "fine" : tensor<4xi1>
  %y = tt.reshape %x allow_reorder : tensor<4x8xi32> -> tensor<8x4xi32>
  %z = tt.reshape %y : tensor<8x4xi32> -> tensor<4x8xi32>
  tt.return %z : tensor<4x8xi32>
}

// -----

// Pointers as integers: there and back, as another pointer, with whole and with broken elements added.
// CHECK-LABEL: @integers
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32>
// CHECK: tt.ptr_to_int
// CHECK-NEXT: %[[B:.*]] = tt.bitcast %[[P]] : !tt.ptr<f32> -> !tt.ptr<f16>
// CHECK-NEXT: %[[A:.*]] = tt.addptr %[[P]], %c-4_i64 : !tt.ptr<f32>, i64
// CHECK-NEXT: arith.addi
// CHECK-NEXT: %[[N:.*]] = tt.int_to_ptr
// CHECK-NEXT: tt.return %[[P]], %[[B]], %[[A]], %[[N]]
tt.func public @integers(%p: !tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<f16>, !tt.ptr<f32>, !tt.ptr<f32>) {
  %m16 = arith.constant -16 : i64
  %c7 = arith.constant 7 : i64
  %i = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %0 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %1 = tt.int_to_ptr %i : i64 -> !tt.ptr<f16>
  %j = arith.addi %i, %m16 : i64
  %2 = tt.int_to_ptr %j : i64 -> !tt.ptr<f32>
  %k = arith.addi %i, %c7 : i64
  %3 = tt.int_to_ptr %k : i64 -> !tt.ptr<f32>
  tt.return %0, %1, %2, %3 : !tt.ptr<f32>, !tt.ptr<f16>, !tt.ptr<f32>, !tt.ptr<f32>
}
