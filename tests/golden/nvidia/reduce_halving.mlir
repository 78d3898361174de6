// A thread's results are divided between the lanes that reduce them: in each of the first steps a lane gives half of
// its results away and keeps the others. Of four sums over 32 lanes that takes 2 + 1 + 3 shuffles instead of 20, and four
// that give every lane all sums again, each of a constant lane in segments of four.
// RUN: tessera compile %s --kernel four --target sm_90a --emit ptx | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel ordered --target sm_90a --emit ptx | FileCheck %s --check-prefix=ORDERED
// RUN: tessera compile %s --kernel eight_in_loop --target sm_90a --emit ptx | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %s --kernel warps --target sm_90a --emit ptx | FileCheck %s --check-prefix=WARPS
// FOUR-LABEL: .entry four(
// FOUR-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1
// FOUR-NOT: , 1, 31, -1
// FOUR: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1
// FOUR-NOT: , 2, 31, -1
// FOUR: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1
// FOUR-NEXT: add.f32
// FOUR-NEXT: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1
// FOUR-NEXT: add.f32
// FOUR-NEXT: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
// FOUR-NEXT: add.f32 %[[SUM:r[0-9]+]],
// FOUR-NEXT: shfl.sync.idx.b32 {{.*}}, %[[SUM]], 0, 7199, -1
// FOUR-NEXT: shfl.sync.idx.b32 {{.*}}, %[[SUM]], 1, 7199, -1
// FOUR-NEXT: shfl.sync.idx.b32 {{.*}}, %[[SUM]], 2, 7199, -1
// FOUR-NEXT: shfl.sync.idx.b32 {{.*}}, %[[SUM]], 3, 7199, -1
// Differences are not commutative: both lanes of a pair subtract what the upper one has from what the lower one has.
// ORDERED-LABEL: .entry ordered(
// ORDERED: selp.f32
// ORDERED: shfl.sync.bfly.b32 %[[GOT:r[0-9]+]], %{{r[0-9]+}}, 1, 31, -1
// ORDERED-NEXT: selp.f32 %[[LOW:r[0-9]+]], %[[GOT]], %{{r[0-9]+}},
// ORDERED-NEXT: selp.f32 %[[HIGH:r[0-9]+]], %{{r[0-9]+}}, %[[GOT]],
// ORDERED-NEXT: sub.f32 %{{r[0-9]+}}, %[[LOW]], %[[HIGH]]
// Of warps that share a row, each lane stores the partial results that it has: none come back.
// WARPS-LABEL: .entry warps(
// WARPS-COUNT-6: shfl.sync.bfly
// WARPS-NOT: shfl
// WARPS: st.shared
// WARPS-NOT: st.shared
// WARPS: bar.sync
// WARPS-NOT: shfl
// WARPS: ret;
// In a loop, eight rows are enough: 4 + 2 + 1 + 2 shuffles and 8 for 40.
// EIGHT-LABEL: .entry eight_in_loop(
// EIGHT-COUNT-9: shfl.sync.bfly
// EIGHT-COUNT-8: shfl.sync.idx
// EIGHT-NOT: shfl
// EIGHT: ret;
#four = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#eight = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#warps = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @four(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
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
    %x = tt.load %a : tensor<16x32x!tt.ptr<f32>, #four>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<16x32xf32, #four>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    %b = tt.addptr %so, %r : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>>
    tt.store %b, %sum : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    tt.return
  }
  tt.func public @ordered(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
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
    %x = tt.load %a : tensor<16x32x!tt.ptr<f32>, #four>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.subf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<16x32xf32, #four>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #four}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    %b = tt.addptr %so, %r : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #four}>>
    tt.store %b, %sum : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #four}>>
    tt.return
  }
  tt.func public @warps(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #warps}>>
    %c = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #warps}>>
    %w = arith.constant dense<128> : tensor<4x1xi32, #warps>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #warps}>> -> tensor<4x1xi32, #warps>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #warps}>> -> tensor<1x128xi32, #warps>
    %rw = arith.muli %re, %w : tensor<4x1xi32, #warps>
    %rb = tt.broadcast %rw : tensor<4x1xi32, #warps> -> tensor<4x128xi32, #warps>
    %cb = tt.broadcast %ce : tensor<1x128xi32, #warps> -> tensor<4x128xi32, #warps>
    %i = arith.addi %rb, %cb : tensor<4x128xi32, #warps>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x128x!tt.ptr<f32>, #warps>
    %a = tt.addptr %s, %i : tensor<4x128x!tt.ptr<f32>, #warps>, tensor<4x128xi32, #warps>
    %x = tt.load %a : tensor<4x128x!tt.ptr<f32>, #warps>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %t = arith.addf %l, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<4x128xf32, #warps>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #warps}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #warps}>>
    %b = tt.addptr %so, %r : tensor<4x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #warps}>>, tensor<4xi32, #ttg.slice<{dim = 1, parent = #warps}>>
    tt.store %b, %sum : tensor<4x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #warps}>>
    tt.return
  }
  tt.func public @eight_in_loop(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #eight}>>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #eight}>>
    %w = arith.constant dense<32> : tensor<32x1xi32, #eight>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #eight}>> -> tensor<32x1xi32, #eight>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #eight}>> -> tensor<1x32xi32, #eight>
    %rw = arith.muli %re, %w : tensor<32x1xi32, #eight>
    %rb = tt.broadcast %rw : tensor<32x1xi32, #eight> -> tensor<32x32xi32, #eight>
    %cb = tt.broadcast %ce : tensor<1x32xi32, #eight> -> tensor<32x32xi32, #eight>
    %i = arith.addi %rb, %cb : tensor<32x32xi32, #eight>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #eight>
    %a = tt.addptr %s, %i : tensor<32x32x!tt.ptr<f32>, #eight>, tensor<32x32xi32, #eight>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #eight}>>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #eight}>>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<32x32xi32, #eight>
      %ak = tt.addptr %a, %ks : tensor<32x32x!tt.ptr<f32>, #eight>, tensor<32x32xi32, #eight>
      %x = tt.load %ak : tensor<32x32x!tt.ptr<f32>, #eight>
      %one = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %q: f32):
        %t = arith.addf %l, %q : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x32xf32, #eight>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #eight}>>
      %next = arith.addf %acc, %one : tensor<32xf32, #ttg.slice<{dim = 1, parent = #eight}>>
      scf.yield %next : tensor<32xf32, #ttg.slice<{dim = 1, parent = #eight}>>
    }
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #eight}>>
    %b = tt.addptr %so, %r : tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #eight}>>, tensor<32xi32, #ttg.slice<{dim = 1, parent = #eight}>>
    tt.store %b, %sum : tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #eight}>>
    tt.return
  }
}
