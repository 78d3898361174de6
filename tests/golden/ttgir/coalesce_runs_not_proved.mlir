// tritongpu-coalesce where no run of consecutive elements is proved: neighbours lie side by side but for places at which
// indices wrap, and lanes take neighbours.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s

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
