// drop-unit-dimensions: loads and loop-carried values whose dimension of one element a reshape drops.
// RUN: tessera opt %s -drop-unit-dimensions -cse -canonicalize --verify-each | FileCheck %s

// Addresses, mask and value of masked-off elements lose the dimension, and so does the loop-carried value.
// CHECK-LABEL: @batch
// CHECK: %[[INIT:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[INIT]]) -> (tensor<16x16xf32>)
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %{{.*}} : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
// CHECK: %[[X:.*]] = tt.load %[[P]], %{{.*}}, %{{.*}} : tensor<16x16x!tt.ptr<f16>>
// CHECK-NOT: tt.reshape
// CHECK: %[[D:.*]] = tt.dot %[[X]], %[[X]], %[[SUM]]
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: tt.reshape %{{.*}} : tensor<16x16xf32> -> tensor<1x16x16xf32>
tt.func public @batch(%a: !tt.ptr<f16>, %n: i32) -> tensor<1x16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<1x16x16xf32>
  %none = arith.constant dense<0.0> : tensor<1x16x16xf16>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %row = tt.expand_dims %r0 {axis = 2 : i32} : tensor<1x16xi32> -> tensor<1x16x1xi32>
  %column = tt.expand_dims %r0 {axis = 1 : i32} : tensor<1x16xi32> -> tensor<1x1x16xi32>
  %sum = scf.for %k = %c0 to %n step %c16 iter_args(%s = %zero) -> (tensor<1x16x16xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<1x16x1xi32>
    %at = arith.addi %row, %ks : tensor<1x16x1xi32>
    %rows = tt.broadcast %at : tensor<1x16x1xi32> -> tensor<1x16x16xi32>
    %columns = tt.broadcast %column : tensor<1x1x16xi32> -> tensor<1x16x16xi32>
    %i = arith.addi %rows, %columns : tensor<1x16x16xi32>
    %ns = tt.splat %n : i32 -> tensor<1x16x1xi32>
    %inside = arith.cmpi slt, %at, %ns : tensor<1x16x1xi32>
    %mask = tt.broadcast %inside : tensor<1x16x1xi1> -> tensor<1x16x16xi1>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<1x16x16x!tt.ptr<f16>>
    %p = tt.addptr %as, %i : tensor<1x16x16x!tt.ptr<f16>>, tensor<1x16x16xi32>
    %x = tt.load %p, %mask, %none : tensor<1x16x16x!tt.ptr<f16>>
    %m = tt.reshape %x : tensor<1x16x16xf16> -> tensor<16x16xf16>
    %c = tt.reshape %s : tensor<1x16x16xf32> -> tensor<16x16xf32>
    %d = tt.dot %m, %m, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %t = tt.reshape %d : tensor<16x16xf32> -> tensor<1x16x16xf32>
    scf.yield %t : tensor<1x16x16xf32>
  }
  tt.return %sum : tensor<1x16x16xf32>
}

// A reshape that does more, one in any order, a load with another use and addresses from elsewhere stay.
// CHECK-LABEL: @stays
// CHECK: tt.load %arg0 : tensor<1x16x!tt.ptr<f16>>
// CHECK: tt.load %arg1 : tensor<1x4x4x!tt.ptr<f16>>
// CHECK: tt.load %{{.*}} : tensor<1x4x4x!tt.ptr<f16>>
// CHECK: tt.load %{{.*}} : tensor<1x16x!tt.ptr<f16>>
// CHECK-COUNT-4: tt.reshape
tt.func public @stays(%p: tensor<1x16x!tt.ptr<f16>>, %q: tensor<1x4x4x!tt.ptr<f16>>, %a: !tt.ptr<f16>) -> (tensor<16xf16>, tensor<16xf16>, tensor<4x4xf16>, tensor<16xf16>, tensor<1x16xf16>) {
  %x = tt.load %p : tensor<1x16x!tt.ptr<f16>>
  %y = tt.load %q : tensor<1x4x4x!tt.ptr<f16>>
  %zs = tt.splat %a : !tt.ptr<f16> -> tensor<1x4x4x!tt.ptr<f16>>
  %z = tt.load %zs : tensor<1x4x4x!tt.ptr<f16>>
  %ws = tt.splat %a : !tt.ptr<f16> -> tensor<1x16x!tt.ptr<f16>>
  %w = tt.load %ws : tensor<1x16x!tt.ptr<f16>>
  %0 = tt.reshape %x : tensor<1x16xf16> -> tensor<16xf16>
  %1 = tt.reshape %y : tensor<1x4x4xf16> -> tensor<16xf16>
  %2 = tt.reshape %z allow_reorder : tensor<1x4x4xf16> -> tensor<4x4xf16>
  %3 = tt.reshape %w : tensor<1x16xf16> -> tensor<16xf16>
  tt.return %0, %1, %2, %3, %w : tensor<16xf16>, tensor<16xf16>, tensor<4x4xf16>, tensor<16xf16>, tensor<1x16xf16>
}

// A loop-carried value that is used in a shape of other dimensions stays, too.
// CHECK-LABEL: @halves
// CHECK: scf.for {{.*}} -> (tensor<16xf32>)
tt.func public @halves(%init: tensor<16xf32>, %x: tensor<2x8xf32>, %n: i32) -> tensor<16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %init) -> (tensor<16xf32>) : i32 {
    %h = tt.reshape %s : tensor<16xf32> -> tensor<2x8xf32>
    %t = arith.addf %h, %x : tensor<2x8xf32>
    %u = tt.reshape %t : tensor<2x8xf32> -> tensor<16xf32>
    scf.yield %u : tensor<16xf32>
  }
  tt.return %sum : tensor<16xf32>
}
