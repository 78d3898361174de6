// Partial values of warps where lanes have results of their own, eight a thread: those of one warp lie side by side, and
// each thread stores and loads vectors of its results. Beside the other warps' values of the same result all lanes'
// accesses would meet in the same banks. Where they would not, since few results of few warps lie between those of two
// lanes, each result's values do lie side by side.
// RUN: tessera compile %s --kernel columns --target sm_90a --emit ptx | FileCheck %s --check-prefix=COLUMNS
// RUN: tessera compile %s --kernel few --target sm_90a --emit ptx | FileCheck %s --check-prefix=FEW
// COLUMNS-LABEL: .entry columns(
// COLUMNS: st.shared.v4
// COLUMNS: bar.sync
// COLUMNS-COUNT-8: ld.shared.v4
// COLUMNS: ret;
// FEW-LABEL: .entry few(
// FEW-NOT: st.shared.v4
// FEW: st.shared.b32
// FEW-NOT: st.shared
// FEW: bar.sync
// FEW-COUNT-4: ld.shared.v2
// FEW: ret;
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#few = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @columns(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #columns}>>
    %c = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #columns}>>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #columns}>> -> tensor<16x1xi32, #columns>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #columns}>> -> tensor<1x128xi32, #columns>
    %w = arith.constant dense<128> : tensor<16x1xi32, #columns>
    %rw = arith.muli %re, %w : tensor<16x1xi32, #columns>
    %rb = tt.broadcast %rw : tensor<16x1xi32, #columns> -> tensor<16x128xi32, #columns>
    %cb = tt.broadcast %ce : tensor<1x128xi32, #columns> -> tensor<16x128xi32, #columns>
    %i = arith.addi %rb, %cb : tensor<16x128xi32, #columns>
    %s = tt.splat %a : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>, #columns>
    %p = tt.addptr %s, %i : tensor<16x128x!tt.ptr<f32>, #columns>, tensor<16x128xi32, #columns>
    %x = tt.load %p : tensor<16x128x!tt.ptr<f32>, #columns>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %add = arith.addf %l, %q : f32
      tt.reduce.return %add : f32
    }) : (tensor<16x128xf32, #columns>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #columns}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>
    %po = tt.addptr %so, %c : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.store %po, %sum : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.return
  }
  tt.func public @few(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #few}>>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #few}>>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #few}>> -> tensor<32x1xi32, #few>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #few}>> -> tensor<1x32xi32, #few>
    %w = arith.constant dense<32> : tensor<32x1xi32, #few>
    %rw = arith.muli %re, %w : tensor<32x1xi32, #few>
    %rb = tt.broadcast %rw : tensor<32x1xi32, #few> -> tensor<32x32xi32, #few>
    %cb = tt.broadcast %ce : tensor<1x32xi32, #few> -> tensor<32x32xi32, #few>
    %i = arith.addi %rb, %cb : tensor<32x32xi32, #few>
    %s = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #few>
    %p = tt.addptr %s, %i : tensor<32x32x!tt.ptr<f32>, #few>, tensor<32x32xi32, #few>
    %x = tt.load %p : tensor<32x32x!tt.ptr<f32>, #few>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %add = arith.addf %l, %q : f32
      tt.reduce.return %add : f32
    }) : (tensor<32x32xf32, #few>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #few}>>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #few}>>
    %po = tt.addptr %so, %c : tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #few}>>, tensor<32xi32, #ttg.slice<{dim = 0, parent = #few}>>
    tt.store %po, %sum : tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #few}>>
    tt.return
  }
}
