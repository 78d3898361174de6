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

// Stores of a dot's result: 16 bytes a thread of the result's type, though the operands' elements are half as wide.
// CHECK-DAG: #[[A:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK-DAG: #[[C:.*]] = #ttg.blocked<{sizePerThread = [1, 4], {{.*}}, order = [1, 0]}>
// CHECK: @product
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[A]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[C]]>
tt.func public @product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
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
  tt.store %12, %10 : tensor<64x64x!tt.ptr<f32>>
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

// -----

// Atomics of one element each are best side by side, ...
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @atomic
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[V]]>
// CHECK: tt.atomic_rmw {{.*}}, #[[V]]>
tt.func public @atomic(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %true = arith.constant dense<true> : tensor<1024xi1>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>>
  %5 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %6 = tt.addptr %5, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %7 = tt.atomic_rmw fadd, relaxed, gpu, %6, %3, %true : (tensor<1024x!tt.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> tensor<1024xf32>
  tt.return
}

// -----

// ... and so are accesses that cannot be proved to run, but whose neighbours lie side by side but for the wrapping at 49.
// CHECK-NOT: sizePerThread = [4]
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @wrapping
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[V]]>
tt.func public @wrapping(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %c49 = arith.constant dense<49> : tensor<1024xi32>
  %r = arith.remsi %0, %c49 : tensor<1024xi32>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %2 = tt.addptr %1, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>>
  %5 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %6 = tt.addptr %5, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %6, %3 : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// One that jumps has no say.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: @jumping
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[V]]>
tt.func public @jumping(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %c49 = arith.constant dense<49> : tensor<1024xi32>
  %r = arith.muli %0, %c49 : tensor<1024xi32>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %2 = tt.addptr %1, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>>
  %5 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %6 = tt.addptr %5, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %6, %3 : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Of two dimensions along neither of which a run is proved, that comes first along which neighbours lie side by side but for
// the wrapping; along a row they are 7203 elements apart.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
// CHECK: @wrapping_columns
// CHECK: tt.load %{{.*}} : tensor<64x8x!tt.ptr<f32>, #[[V]]>
tt.func public @wrapping_columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> tensor<64x8xf32> {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %x = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r = tt.expand_dims %1 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %c49 = arith.constant dense<49> : tensor<64x1xi32>
  %c7203 = arith.constant dense<7203> : tensor<1x8xi32>
  %2 = arith.remsi %x, %c49 : tensor<64x1xi32>
  %3 = arith.muli %r, %c7203 : tensor<1x8xi32>
  %4 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x8xi32>
  %5 = tt.broadcast %3 : tensor<1x8xi32> -> tensor<64x8xi32>
  %6 = arith.addi %4, %5 : tensor<64x8xi32>
  %7 = tt.splat %p : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
  %8 = tt.addptr %7, %6 : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
  %9 = tt.load %8 : tensor<64x8x!tt.ptr<f32>>
  tt.return %9 : tensor<64x8xf32>
}

// -----

// A divisor that is not known is taken for larger than what it divides steps by.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
// CHECK: @wrapping_anywhere
// CHECK: tt.load %{{.*}} : tensor<64x8x!tt.ptr<f32>, #[[V]]>
tt.func public @wrapping_anywhere(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<64x8xf32> {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %x = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r = tt.expand_dims %1 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %nx = tt.splat %n : i32 -> tensor<64x1xi32>
  %nr = tt.splat %n : i32 -> tensor<1x8xi32>
  %2 = arith.remsi %x, %nx : tensor<64x1xi32>
  %3 = arith.muli %r, %nr : tensor<1x8xi32>
  %4 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x8xi32>
  %5 = tt.broadcast %3 : tensor<1x8xi32> -> tensor<64x8xi32>
  %6 = arith.addi %4, %5 : tensor<64x8xi32>
  %7 = tt.splat %p : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
  %8 = tt.addptr %7, %6 : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
  %9 = tt.load %8 : tensor<64x8x!tt.ptr<f32>>
  tt.return %9 : tensor<64x8xf32>
}

// -----

// Not against an access of the same shape that is proved to run along the other dimension.
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: @outvoted
// CHECK: tt.load %{{.*}} : tensor<64x8x!tt.ptr<f32>, #[[V]]>
tt.func public @outvoted(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %x = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r = tt.expand_dims %1 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %c49 = arith.constant dense<49> : tensor<64x1xi32>
  %c8 = arith.constant dense<8> : tensor<64x1xi32>
  %c7203 = arith.constant dense<7203> : tensor<1x8xi32>
  %2 = arith.remsi %x, %c49 : tensor<64x1xi32>
  %3 = arith.muli %r, %c7203 : tensor<1x8xi32>
  %4 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x8xi32>
  %5 = tt.broadcast %3 : tensor<1x8xi32> -> tensor<64x8xi32>
  %6 = arith.addi %4, %5 : tensor<64x8xi32>
  %7 = tt.splat %p : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
  %8 = tt.addptr %7, %6 : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
  %9 = tt.load %8 : tensor<64x8x!tt.ptr<f32>>
  %10 = arith.muli %x, %c8 : tensor<64x1xi32>
  %11 = tt.broadcast %10 : tensor<64x1xi32> -> tensor<64x8xi32>
  %12 = tt.broadcast %r : tensor<1x8xi32> -> tensor<64x8xi32>
  %13 = arith.addi %11, %12 : tensor<64x8xi32>
  %14 = tt.splat %q : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
  %15 = tt.addptr %14, %13 : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
  tt.store %15, %9 : tensor<64x8x!tt.ptr<f32>>
  tt.return
}

// -----

// A right operand whose rows cannot be proved to run is loaded one by one, beside a left one that is loaded eight at a time: its
// lanes have pairs beside each other.
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[PAIRS:.*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: @operands
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<bf16>, #[[WIDE]]>
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<bf16>, #[[PAIRS]]>
tt.func public @operands(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16>, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ro = arith.muli %r1, %width : tensor<64x1xi32>
  %rb = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %rb, %cb : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  %pa = tt.addptr %as, %i : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  %pb = tt.addptr %bs, %i : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %pa : tensor<64x64x!tt.ptr<bf16>>
  %y = tt.load %pb : tensor<64x64x!tt.ptr<bf16>>
  %d = tt.dot %x, %y, %zero : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
  tt.store %pc, %d : tensor<64x64x!tt.ptr<f32>>
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
