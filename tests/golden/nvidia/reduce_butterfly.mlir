// What is not divided between the lanes (reduce_halving.mlir has what is): every step is a butterfly's.
// RUN: tessera compile %s --kernel few_lanes --target sm_90a --emit ptx | FileCheck %s --check-prefix=FEW
// RUN: tessera compile %s --kernel one_step --target sm_90a --emit ptx | FileCheck %s --check-prefix=STEP
// RUN: tessera compile %s --kernel loop --target sm_90a --emit ptx | FileCheck %s --check-prefix=LOOP
// RUN: tessera compile %s --kernel full --target sm_90a --emit ptx | FileCheck %s --check-prefix=FULL

// Two rows over four lanes take as many instructions either way.
// FEW-LABEL: .entry few_lanes(
// FEW-NOT: selp
// FEW-NOT: shfl.sync.idx
// FEW-COUNT-4: shfl.sync.bfly
// FEW-NOT: shfl
// FEW: ret;

// Four rows over two lanes, and then over warps: two shuffles less, but a condition and four selects more.
// STEP-LABEL: .entry one_step(
// STEP-NOT: selp
// STEP-COUNT-4: shfl.sync.bfly
// STEP-NOT: shfl
// STEP-NOT: selp
// STEP: bar.sync

// In a loop, where each iteration waits until the results are back in all lanes, four rows are too few.
// LOOP-LABEL: .entry loop(
// LOOP-NOT: shfl.sync.idx
// LOOP-COUNT-20: shfl.sync.bfly
// LOOP-NOT: shfl
// LOOP: ret;

// 128 registers of the tensor: no result waits in a register for its neighbour.
// FULL-LABEL: .entry full(
// FULL-NOT: shfl.sync.idx
// FULL-COUNT-20: shfl.sync.bfly
// FULL-NOT: shfl
// FULL: ret;
#few = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#step = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#four = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @few_lanes(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #few}>>
    %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #few}>>
    %w = arith.constant dense<4> : tensor<64x1xi32, #few>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #few}>> -> tensor<64x1xi32, #few>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #few}>> -> tensor<1x4xi32, #few>
    %rw = arith.muli %re, %w : tensor<64x1xi32, #few>
    %rb = tt.broadcast %rw : tensor<64x1xi32, #few> -> tensor<64x4xi32, #few>
    %cb = tt.broadcast %ce : tensor<1x4xi32, #few> -> tensor<64x4xi32, #few>
    %i = arith.addi %rb, %cb : tensor<64x4xi32, #few>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x4x!tt.ptr<f32>, #few>
    %a = tt.addptr %s, %i : tensor<64x4x!tt.ptr<f32>, #few>, tensor<64x4xi32, #few>
    %x = tt.load %a : tensor<64x4x!tt.ptr<f32>, #few>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<64x4xf32, #few>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #few}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #few}>>
    %b = tt.addptr %so, %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #few}>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #few}>>
    tt.store %b, %sum : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #few}>>
    tt.return
  }
  tt.func public @one_step(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #step}>>
    %c = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #step}>>
    %w = arith.constant dense<8> : tensor<64x1xi32, #step>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #step}>> -> tensor<64x1xi32, #step>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #step}>> -> tensor<1x8xi32, #step>
    %rw = arith.muli %re, %w : tensor<64x1xi32, #step>
    %rb = tt.broadcast %rw : tensor<64x1xi32, #step> -> tensor<64x8xi32, #step>
    %cb = tt.broadcast %ce : tensor<1x8xi32, #step> -> tensor<64x8xi32, #step>
    %i = arith.addi %rb, %cb : tensor<64x8xi32, #step>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>, #step>
    %a = tt.addptr %s, %i : tensor<64x8x!tt.ptr<f32>, #step>, tensor<64x8xi32, #step>
    %x = tt.load %a : tensor<64x8x!tt.ptr<f32>, #step>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<64x8xf32, #step>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #step}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #step}>>
    %b = tt.addptr %so, %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #step}>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #step}>>
    tt.store %b, %sum : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #step}>>
    tt.return
  }
  tt.func public @loop(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #four}>>
    %w = arith.constant dense<32> : tensor<16x1xi32, #four>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>> -> tensor<16x1xi32, #four>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #four}>> -> tensor<1x32xi32, #four>
    %rw = arith.muli %re, %w : tensor<16x1xi32, #four>
    %rb = tt.broadcast %rw : tensor<16x1xi32, #four> -> tensor<16x32xi32, #four>
    %cb = tt.broadcast %ce : tensor<1x32xi32, #four> -> tensor<16x32xi32, #four>
    %i = arith.addi %rb, %cb : tensor<16x32xi32, #four>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #four>
    %a = tt.addptr %s, %i : tensor<16x32x!tt.ptr<f32>, #four>, tensor<16x32xi32, #four>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<16x32xi32, #four>
      %ak = tt.addptr %a, %ks : tensor<16x32x!tt.ptr<f32>, #four>, tensor<16x32xi32, #four>
      %x = tt.load %ak : tensor<16x32x!tt.ptr<f32>, #four>
      %one = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %q: f32):
        %t = arith.addf %l, %q : f32
        tt.reduce.return %t : f32
      }) : (tensor<16x32xf32, #four>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
      %next = arith.addf %acc, %one : tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
      scf.yield %next : tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
    }
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    %b = tt.addptr %so, %r : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>>
    tt.store %b, %sum : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    tt.return
  }
  tt.func public @full(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>>
    %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #ttg.slice<{dim = 0, parent = #four}>>
    %w = arith.constant dense<1024> : tensor<16x1xi32, #four>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>> -> tensor<16x1xi32, #four>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<1024xi32, #ttg.slice<{dim = 0, parent = #four}>> -> tensor<1x1024xi32, #four>
    %rw = arith.muli %re, %w : tensor<16x1xi32, #four>
    %rb = tt.broadcast %rw : tensor<16x1xi32, #four> -> tensor<16x1024xi32, #four>
    %cb = tt.broadcast %ce : tensor<1x1024xi32, #four> -> tensor<16x1024xi32, #four>
    %i = arith.addi %rb, %cb : tensor<16x1024xi32, #four>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x1024x!tt.ptr<f32>, #four>
    %a = tt.addptr %s, %i : tensor<16x1024x!tt.ptr<f32>, #four>, tensor<16x1024xi32, #four>
    %x = tt.load %a : tensor<16x1024x!tt.ptr<f32>, #four>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<16x1024xf32, #four>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    %b = tt.addptr %so, %r : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>>
    tt.store %b, %sum : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    tt.return
  }
}
