// load-repeated-once: loop-carried pointers and quotients that are as they were.
// RUN: tessera opt %s -load-repeated-once -cse -canonicalize --verify-each | FileCheck %s

// Pointers that something else needs: the last one after the loop, the next one in it. A volatile load.
// CHECK-LABEL: @pointers
// CHECK: tt.load %{{.*}} : tensor<64x16x!tt.ptr<i8>>
// CHECK: tt.load %{{.*}} : tensor<64x16x!tt.ptr<i8>>
// CHECK: tt.load %{{.*}} {isVolatile = true} : tensor<64x16x!tt.ptr<i8>>
tt.func public @pointers(%w: !tt.ptr<i8>, %n: i32, %step: i32, %a: tensor<16x64xf16>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %two = arith.constant dense<2> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %q = arith.divsi %r1, %two : tensor<64x1xi32>
  %rows = tt.broadcast %q : tensor<64x1xi32> -> tensor<64x16xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tt.broadcast %c2 : tensor<1x16xi32> -> tensor<64x16xi32>
  %at = arith.addi %rows, %columns : tensor<64x16xi32>
  %ws = tt.splat %w : !tt.ptr<i8> -> tensor<64x16x!tt.ptr<i8>>
  %p = tt.addptr %ws, %at : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
  %steps = tt.splat %step : i32 -> tensor<64x16xi32>
  %sum:3 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %init, %p1 = %p, %p2 = %p) -> (tensor<16x16xf32>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>) : i32 {
    %x = tt.load %p1 : tensor<64x16x!tt.ptr<i8>>
    %y = tt.load %p2 : tensor<64x16x!tt.ptr<i8>>
    %z = tt.load %p {isVolatile = true} : tensor<64x16x!tt.ptr<i8>>
    %xy = arith.addi %x, %y : tensor<64x16xi8>
    %xyz = arith.addi %xy, %z : tensor<64x16xi8>
    %f = arith.sitofp %xyz : tensor<64x16xi8> to tensor<64x16xf16>
    %d = tt.dot %a, %f, %s : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    %n1 = tt.addptr %p1, %steps : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
    %n2 = tt.addptr %p2, %steps : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
    tt.store %n2, %x : tensor<64x16x!tt.ptr<i8>>
    scf.yield %d, %n1, %n2 : tensor<16x16xf32>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>
  }
  %last = tt.load %sum#1 : tensor<64x16x!tt.ptr<i8>>
  tt.store %p, %last : tensor<64x16x!tt.ptr<i8>>
  tt.return %sum#0 : tensor<16x16xf32>
}

// Groups of four of an index that is divided by eight: no quotient of the range, but of every fourth element.
// CHECK-LABEL: @halves
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant dense<8> : tensor<16xi32>
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<4> : tensor<16xi32>
// CHECK: %[[R:.*]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
// CHECK: %[[I:.*]] = arith.muli %[[R]], %[[FOUR]] : tensor<16xi32>
// CHECK: arith.divsi %[[I]], %[[EIGHT]] : tensor<16xi32>
// CHECK: tt.load %{{.*}} : tensor<16x16x!tt.ptr<i8>>
tt.func public @halves(%w: !tt.ptr<i8>, %n: i32, %a: tensor<16x64xf16>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %four = arith.constant dense<4> : tensor<64xi32>
  %eight = arith.constant dense<8> : tensor<64xi32>
  %stride = arith.constant dense<16> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %by4 = arith.divsi %r, %four : tensor<64xi32>
  %by8 = arith.divsi %r, %eight : tensor<64xi32>
  %far = arith.muli %by8, %stride : tensor<64xi32>
  %both = arith.addi %far, %by4 : tensor<64xi32>
  %both1 = tt.expand_dims %both {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rows = tt.broadcast %both1 : tensor<64x1xi32> -> tensor<64x16xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tt.broadcast %c2 : tensor<1x16xi32> -> tensor<64x16xi32>
  %at = arith.addi %rows, %columns : tensor<64x16xi32>
  %ws = tt.splat %w : !tt.ptr<i8> -> tensor<64x16x!tt.ptr<i8>>
  %p = tt.addptr %ws, %at : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %init) -> (tensor<16x16xf32>) : i32 {
    %x = tt.load %p : tensor<64x16x!tt.ptr<i8>>
    %f = arith.sitofp %x : tensor<64x16xi8> to tensor<64x16xf16>
    %d = tt.dot %a, %f, %s : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %sum : tensor<16x16xf32>
}
