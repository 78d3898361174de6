// tritongpu-coalesce where a kernel stores, too: what is both read and written has one layout, and a width that suits
// loads and stores.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s

// What is also written stays in the layout of its stores: threads read back what they wrote, and nobody else's.
// CHECK: #[[OWN:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], {{.*}}, order = [1, 0]}>
// CHECK: @strided_in_place
// CHECK: tt.load %{{.*}} : tensor<128x64x!tt.ptr<f32>, #[[OWN]]>
// CHECK: tt.store %{{.*}} : tensor<128x64x!tt.ptr<f32>, #[[OWN]]>
// CHECK: tt.load %{{.*}} : tensor<128x64x!tt.ptr<f32>, #[[OWN]]>
tt.func public @strided_in_place(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %q: tensor<128x!tt.ptr<f32>>) {
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %3 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %4 = tt.splat %n : i32 -> tensor<128x1xi32>
  %5 = tt.splat %n : i32 -> tensor<1x64xi32>
  %6 = arith.muli %2, %4 : tensor<128x1xi32>
  %7 = arith.muli %3, %5 : tensor<1x64xi32>
  %8 = tt.broadcast %6 : tensor<128x1xi32> -> tensor<128x64xi32>
  %9 = tt.broadcast %7 : tensor<1x64xi32> -> tensor<128x64xi32>
  %10 = arith.addi %8, %9 : tensor<128x64xi32>
  %11 = tt.splat %p : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %12 = tt.addptr %11, %10 : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  %13 = tt.load %12 : tensor<128x64x!tt.ptr<f32>>
  %14 = arith.negf %13 : tensor<128x64xf32>
  tt.store %12, %14 : tensor<128x64x!tt.ptr<f32>>
  %15 = tt.load %12 : tensor<128x64x!tt.ptr<f32>>
  %16 = "tt.reduce"(%15) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %17 = arith.addf %x, %y : f32
    tt.reduce.return %17 : f32
  }) : (tensor<128x64xf32>) -> tensor<128xf32>
  tt.store %q, %16 : tensor<128x!tt.ptr<f32>>
  tt.return
}

// -----

// Two stores to one place: one layout, by which each thread overwrites what it wrote itself.
// CHECK: @written_twice
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[TWICE:.*]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[TWICE]]>
tt.func public @written_twice(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %3 = arith.muli %1, %c64 : tensor<64x1xi32>
  %4 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x64xi32>
  %5 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %6 = arith.addi %4, %5 : tensor<64x64xi32>
  %7 = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %9 = tt.load %8 : tensor<64x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %10 = tt.dot %9, %9, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %11 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %12 = tt.addptr %11, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %12, %zero : tensor<64x64x!tt.ptr<f32>>
  tt.store %12, %10 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Pointers that come from tables in different arguments' memory may meet, but no thread relies on reading through one
// what it wrote through another: the copies for the dot keep their width beside a store of single elements.
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK-DAG: #[[NARROW:.*]] = #ttg.blocked<{sizePerThread = [1, 1], {{.*}}, order = [1, 0]}>
// CHECK: @tables
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[WIDE]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[NARROW]]>
tt.func public @tables(%as: !tt.ptr<i64>, %cs: !tt.ptr<i64>, %stride: i32) {
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tt.load %as : !tt.ptr<i64>
  %c = tt.load %cs : !tt.ptr<i64>
  %pa = tt.int_to_ptr %a : i64 -> !tt.ptr<f16>
  %pc = tt.int_to_ptr %c : i64 -> !tt.ptr<f16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r0 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %rows = arith.muli %r0, %s : tensor<64x1xi32>
  %rows1 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %r1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %rows1, %columns : tensor<64x64xi32>
  %ta = tt.splat %pa : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %tc = tt.splat %pc : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %xa = tt.addptr %ta, %offsets {tt.divisibility = dense<16> : tensor<2xi32>} : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %xc = tt.addptr %tc, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %v = tt.load %xa : tensor<64x64x!tt.ptr<f16>>
  %d = tt.dot %v, %v, %zeros : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  tt.store %xc, %h : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
