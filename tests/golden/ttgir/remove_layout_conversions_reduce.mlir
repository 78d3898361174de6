// tritongpu-remove-layout-conversions: conversions move down through reductions, unless the warps' partial results would
// then take more than half of a block's shared memory.
// RUN: tessera opt %s --target sm_90a -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Each of the two warps of a column reduces 32 rows itself.
  // CHECK-LABEL: @reduces
  // CHECK: tt.load
  // CHECK-NEXT: "tt.reduce"
  // CHECK: tensor<64x128xf32, #[[ROWS:.*]]>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[ROWS]]}>>
  // CHECK-NEXT: ttg.convert_layout
  tt.func public @reduces(%p: tensor<64x128x!tt.ptr<f32>, #rows>, %q: tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>) {
    %0 = tt.load %p : tensor<64x128x!tt.ptr<f32>, #rows>
    %1 = ttg.convert_layout %0 : tensor<64x128xf32, #rows> -> tensor<64x128xf32, #columns>
    %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<64x128xf32, #columns>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.store %q, %2 : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.return
  }
  // Of two rows each warp has one: there is nothing to reduce before the exchange, of 1 KiB and of 128 KiB.
  // CHECK-LABEL: @exchanges_little
  // CHECK: tt.load
  // CHECK-NEXT: "tt.reduce"
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @exchanges_little(%p: tensor<2x128x!tt.ptr<f32>, #rows>, %q: tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>) {
    %0 = tt.load %p : tensor<2x128x!tt.ptr<f32>, #rows>
    %1 = ttg.convert_layout %0 : tensor<2x128xf32, #rows> -> tensor<2x128xf32, #columns>
    %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<2x128xf32, #columns>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.store %q, %2 : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.return
  }
  // CHECK-LABEL: @exchanges_much
  // CHECK: tt.load
  // CHECK-NEXT: ttg.convert_layout
  // CHECK: "tt.reduce"
  // CHECK: tt.return
  tt.func public @exchanges_much(%p: tensor<2x16384x!tt.ptr<f32>, #rows>, %q: tensor<16384x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>) {
    %0 = tt.load %p : tensor<2x16384x!tt.ptr<f32>, #rows>
    %1 = ttg.convert_layout %0 : tensor<2x16384xf32, #rows> -> tensor<2x16384xf32, #columns>
    %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<2x16384xf32, #columns>) -> tensor<16384xf32, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.store %q, %2 : tensor<16384x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #columns}>>
    tt.return
  }
}
