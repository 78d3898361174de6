// load-repeated-once: loads that stay as they are.
// RUN: tessera opt %s -load-repeated-once -cse -canonicalize | FileCheck %s

// There is no dot.
// CHECK-LABEL: @no_dot
// CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<i32>>
tt.func public @no_dot(%w: !tt.ptr<i32>) {
  %eight = arith.constant dense<8> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %q = arith.divsi %r, %eight : tensor<64xi32>
  %ws = tt.splat %w : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %p = tt.addptr %ws, %q : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %x = tt.load %p : tensor<64x!tt.ptr<i32>>
  tt.store %p, %x : tensor<64x!tt.ptr<i32>>
  tt.return
}

// Rows of one address have values of their own where they are masked off; in the second loop all have one value.
// CHECK-LABEL: @other
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x16x!tt.ptr<i8>>
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x16x!tt.ptr<i8>>
tt.func public @other(%w: !tt.ptr<i8>, %n: i32, %on: i1, %a: tensor<16x64xf16>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %two = arith.constant dense<2> : tensor<64x1xi32>
  %one = arith.constant dense<1> : tensor<64x16xi8>
  %mask = tt.splat %on : i1 -> tensor<64x16xi1>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tt.broadcast %c2 : tensor<1x16xi32> -> tensor<64x16xi32>
  %q = arith.divsi %r1, %two : tensor<64x1xi32>
  %rows = tt.broadcast %q : tensor<64x1xi32> -> tensor<64x16xi32>
  %at = arith.addi %rows, %columns : tensor<64x16xi32>
  %ws = tt.splat %w : !tt.ptr<i8> -> tensor<64x16x!tt.ptr<i8>>
  %p = tt.addptr %ws, %at : tensor<64x16x!tt.ptr<i8>>, tensor<64x16xi32>
  %o1 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x16xi32>
  %o = arith.trunci %o1 : tensor<64x16xi32> to tensor<64x16xi8>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %init) -> (tensor<16x16xf32>) : i32 {
    %x = tt.load %p, %mask, %o : tensor<64x16x!tt.ptr<i8>>
    %f = arith.sitofp %x : tensor<64x16xi8> to tensor<64x16xf16>
    %d = tt.dot %a, %f, %s : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %more = scf.for %k = %c0 to %n step %c1 iter_args(%s = %sum) -> (tensor<16x16xf32>) : i32 {
    %x = tt.load %p, %mask, %one : tensor<64x16x!tt.ptr<i8>>
    %f = arith.sitofp %x : tensor<64x16xi8> to tensor<64x16xf16>
    %d = tt.dot %a, %f, %s : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %more : tensor<16x16xf32>
}
