// load-repeated-once: blocks of dots are loaded without the rows that a division makes equal.
// RUN: tessera opt %s -load-repeated-once -cse -canonicalize --verify-each | FileCheck %s
// RUN: tessera opt %s -load-repeated-once=most-bits=16 -cse -canonicalize | FileCheck %s --check-prefix=WORDS
// RUN: tessera opt %s -load-repeated-once=threads=1024 -cse -canonicalize | FileCheck %s --check-prefix=SMALL

// Eight rows have one word. Index, mask and value of masked-off elements are of every eighth row; the index is divided
// before the words' own rows are added. What is stated of equal rows does not hold for the words.
// WORDS-LABEL: @words
// WORDS: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x16x!tt.ptr<i32>>
// SMALL-LABEL: @words
// SMALL: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x16x!tt.ptr<i32>>
// CHECK-LABEL: @words
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: %[[Q:.*]] = arith.divsi %[[K]], %{{.*}} : i32
// CHECK: %[[S:.*]] = tt.splat %[[Q]] : i32 -> tensor<8xi32>
// CHECK: arith.addi %[[S]], %{{.*}} : tensor<8xi32>
// CHECK: %[[L:.*]] = tt.load %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} : tensor<8x16x!tt.ptr<i32>>
// CHECK: %[[E:.*]] = tt.expand_dims %[[L]] {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
// CHECK: %[[B:.*]] = tt.broadcast %[[E]] : tensor<8x1x16xi32> -> tensor<8x8x16xi32>
// CHECK: tt.reshape %[[B]] : tensor<8x8x16xi32> -> tensor<64x16xi32>
tt.func public @words(%w: !tt.ptr<i32>, %n: i32 {tt.divisibility = 16 : i32}, %a: tensor<16x64xf16>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %eight = arith.constant dense<8> : tensor<64xi32>
  %stride = arith.constant dense<16> : tensor<64x1xi32>
  %none = arith.constant dense<7> : tensor<64x16xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tt.broadcast %c1 : tensor<1x16xi32> -> tensor<64x16xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %ws = tt.splat %w : !tt.ptr<i32> -> tensor<64x16x!tt.ptr<i32>>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %init) -> (tensor<16x16xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<64xi32>
    %i = arith.addi %ks, %r : tensor<64xi32>
    %in = arith.cmpi slt, %i, %ns : tensor<64xi32>
    %in1 = tt.expand_dims %in {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %mask = tt.broadcast %in1 : tensor<64x1xi1> -> tensor<64x16xi1>
    %q = arith.divsi %i, %eight : tensor<64xi32>
    %q1 = tt.expand_dims %q {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %qs = arith.muli %q1, %stride : tensor<64x1xi32>
    %rows = tt.broadcast %qs : tensor<64x1xi32> -> tensor<64x16xi32>
    %at = arith.addi %rows, %columns : tensor<64x16xi32>
    %p = tt.addptr %ws, %at : tensor<64x16x!tt.ptr<i32>>, tensor<64x16xi32>
    %x = tt.load %p, %mask, %none {tt.constancy = dense<[8, 1]> : tensor<2xi32>} : tensor<64x16x!tt.ptr<i32>>
    %f = arith.sitofp %x : tensor<64x16xi32> to tensor<64x16xf16>
    %d = tt.dot %a, %f, %s : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %sum : tensor<16x16xf32>
}

// Pairs of bytes by a pointer that the loop carries, and the same where another operation uses the pointer, and where
// the rows are masked one by one.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} -> (tensor<16x16xf32>, tensor<32x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>)
// CHECK: tt.load %{{.*}} : tensor<32x16x!tt.ptr<i8>>
// CHECK: tt.load %{{.*}} : tensor<64x16x!tt.ptr<i8>>
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<64x16x!tt.ptr<i8>>
tt.func public @carried(%w: !tt.ptr<i8>, %n: i32, %step: i32, %a: tensor<16x64xf16>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %two = arith.constant dense<2> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %q = arith.divsi %r1, %two : tensor<64x1xi32>
  %rows = tt.broadcast %q : tensor<64x1xi32> -> tensor<64x16xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %nc = tt.splat %n : i32 -> tensor<1x16xi32>
  %cs = arith.muli %c2, %nc : tensor<1x16xi32>
  %columns = tt.broadcast %cs : tensor<1x16xi32> -> tensor<64x16xi32>
  %at = arith.addi %rows, %columns : tensor<64x16xi32>
  %ns = tt.splat %n : i32 -> tensor<64x1xi32>
  %in = arith.cmpi slt, %r1, %ns : tensor<64x1xi32>
  %mask = tt.broadcast %in : tensor<64x1xi1> -> tensor<64x16xi1>
  %ws = tt.splat %w : !tt.ptr<i8> -> tensor<64x16x!tt.ptr<i8>>
  %p = tt.addptr %ws, %at : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
  %steps = tt.splat %step : i32 -> tensor<64x16xi32>
  %sum:4 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %init, %p1 = %p, %p2 = %p, %p3 = %p) -> (tensor<16x16xf32>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>) : i32 {
    %x = tt.load %p1 : tensor<64x16x!tt.ptr<i8>>
    %y = tt.load %p2 : tensor<64x16x!tt.ptr<i8>>
    %z = tt.load %p3, %mask : tensor<64x16x!tt.ptr<i8>>
    tt.store %p2, %x : tensor<64x16x!tt.ptr<i8>>
    %xy = arith.addi %x, %y : tensor<64x16xi8>
    %xyz = arith.addi %xy, %z : tensor<64x16xi8>
    %f = arith.sitofp %xyz : tensor<64x16xi8> to tensor<64x16xf16>
    %d = tt.dot %a, %f, %s : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    %n1 = tt.addptr %p1, %steps : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
    %n2 = tt.addptr %p2, %steps : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
    %n3 = tt.addptr %p3, %steps : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
    scf.yield %d, %n1, %n2, %n3 : tensor<16x16xf32>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>, tensor<64x16x!tt.ptr<i8>>
  }
  tt.return %sum#0 : tensor<16x16xf32>
}

// Equal rows are loaded as one beside words, and as they are where there are none.
// CHECK-LABEL: @scales
// CHECK: scf.for
// CHECK: tt.load %{{.*}} : tensor<8x16x!tt.ptr<i32>>
// CHECK: %[[L:.*]] = tt.load %{{.*}} : tensor<1x16x!tt.ptr<f16>>
// CHECK: tt.broadcast %[[L]] : tensor<1x16xf16> -> tensor<64x16xf16>
// CHECK: scf.for
// CHECK: tt.load %{{.*}} : tensor<64x16x!tt.ptr<f16>>
tt.func public @scales(%w: !tt.ptr<i32>, %s: !tt.ptr<f16>, %n: i32, %a: tensor<16x64xf16>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %eight = arith.constant dense<8> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %cx = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tt.broadcast %cx : tensor<1x16xi32> -> tensor<64x16xi32>
  %q = arith.divsi %r, %eight : tensor<64xi32>
  %q1 = tt.expand_dims %q {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rows = tt.broadcast %q1 : tensor<64x1xi32> -> tensor<64x16xi32>
  %at = arith.addi %rows, %columns : tensor<64x16xi32>
  %ws = tt.splat %w : !tt.ptr<i32> -> tensor<64x16x!tt.ptr<i32>>
  %p = tt.addptr %ws, %at : tensor<64x16x!tt.ptr<i32>>, tensor<64x16xi32>
  %ss = tt.splat %s : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>>
  %sp = tt.addptr %ss, %columns : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) : i32 {
    %x = tt.load %p : tensor<64x16x!tt.ptr<i32>>
    %scale = tt.load %sp : tensor<64x16x!tt.ptr<f16>>
    %f = arith.sitofp %x : tensor<64x16xi32> to tensor<64x16xf16>
    %b = arith.mulf %f, %scale : tensor<64x16xf16>
    %d = tt.dot %a, %b, %acc : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %more = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<16x16xf32>) : i32 {
    %scale = tt.load %sp : tensor<64x16x!tt.ptr<f16>>
    %d = tt.dot %a, %scale, %acc : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %more : tensor<16x16xf32>
}
