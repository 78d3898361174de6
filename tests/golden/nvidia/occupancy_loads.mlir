// The blocks that a kernel without dots requests, by its loads. A row per warp, 32 elements a thread: a quarter of the
// multiprocessor's warps is enough, so that all loads are in flight at once. A row per block is kept over the barrier of
// its reduction: its loads are in flight together anyway, and the more blocks the better.
// RUN: tessera compile %s --target sm_90a --num-warps 1 --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit ptx -o - | FileCheck %s --check-prefix=BLOCK
// CHECK: .minnctapersm 16{{$}}
// BLOCK-NOT: .minnctapersm
// BLOCK: bar.sync

tt.func public @row(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c1024 = arith.constant 1024 : i32
  %row = tt.get_program_id x : i32
  %at = arith.muli %row, %c1024 : i32
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ats = tt.splat %at : i32 -> tensor<1024xi32>
  %o = arith.addi %ats, %range : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %px = tt.addptr %xs, %o : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %ws = tt.splat %w : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pw = tt.addptr %ws, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %a = tt.load %px : tensor<1024x!tt.ptr<f32>>
  %b = tt.load %pw : tensor<1024x!tt.ptr<f32>>
  %m = arith.mulf %a, %b : tensor<1024xf32>
  %sum = "tt.reduce"(%m) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) : (tensor<1024xf32>) -> f32
  %sums = tt.splat %sum : f32 -> tensor<1024xf32>
  %q = arith.divf %m, %sums : tensor<1024xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %py = tt.addptr %ys, %o : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %py, %q : tensor<1024x!tt.ptr<f32>>
  tt.return
}
