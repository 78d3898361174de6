// tritongpu-coalesce: accesses get layouts in which a thread's access is as wide as alignment and the 16-byte limit
// allow.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s

// Sixteen bytes of f16 are eight elements.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @aligned
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[V]]>
tt.func public @aligned(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %1 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// Nothing known of the pointer: one element at a time.
// CHECK-NOT: sizePerThread = [8]
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @unaligned
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[V]]>
tt.func public @unaligned(%p: !tt.ptr<f16>) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %1 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// The fastest dimension is the one in which addresses rise: the first.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK: @columns
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[V]]>
tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %3 = tt.splat %stride : i32 -> tensor<1x64xi32>
  %4 = arith.muli %2, %3 : tensor<1x64xi32>
  %5 = tt.broadcast %1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %6 = tt.broadcast %4 : tensor<1x64xi32> -> tensor<64x64xi32>
  %7 = arith.addi %5, %6 : tensor<64x64xi32>
  %8 = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %9 = tt.addptr %8, %7 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %10 = tt.load %9 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// A remainder by a multiple of 16 keeps runs of 16 where the dividend is not negative; of a negative one it need not.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @wrapped
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[V]]>
// CHECK: @negative
// CHECK-NOT: tt.load %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[V]]>
// CHECK: tt.return
tt.func public @wrapped(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %1 = tt.splat %n : i32 -> tensor<1024xi32>
  %2 = arith.remsi %0, %1 : tensor<1024xi32>
  %3 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %4 = tt.addptr %3, %2 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %5 = tt.load %4 : tensor<1024x!tt.ptr<f16>>
  tt.return
}
tt.func public @negative(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %1 = tt.splat %n : i32 -> tensor<1024xi32>
  %2 = arith.subi %0, %1 : tensor<1024xi32>
  %3 = arith.remsi %2, %1 : tensor<1024xi32>
  %4 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %5 = tt.addptr %4, %3 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %6 = tt.load %5 : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// -----

// Where nothing is contiguous, what is reduced stays in a thread.
// CHECK: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], {{.*}}, order = [0, 1]}>
// CHECK: @strided_rows
// CHECK: tt.load %{{.*}} : tensor<128x64x!tt.ptr<f32>, #[[ROWS]]>
tt.func public @strided_rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %q: tensor<128x!tt.ptr<f32>>) {
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
  %14 = math.absf %13 : tensor<128x64xf32>
  %15 = "tt.reduce"(%14) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %16 = arith.addf %x, %y : f32
    tt.reduce.return %16 : f32
  }) : (tensor<128x64xf32>) -> tensor<128xf32>
  tt.store %q, %15 : tensor<128x!tt.ptr<f32>>
  tt.return
}

// -----

// One width for all: at four elements a thread the store of f32 is whole sectors, and the load of bf16 still all it wants.
// CHECK-NOT: sizePerThread = [8]
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @widening
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<bf16>, #[[V]]>
// CHECK: tt.store %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[V]]>
tt.func public @widening(%p: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %1 = tt.splat %p : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<bf16>>
  %4 = arith.extf %3 : tensor<1024xbf16> to tensor<1024xf32>
  %5 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %6 = tt.addptr %5, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %6, %4 : tensor<1024x!tt.ptr<f32>>
  tt.return
}
