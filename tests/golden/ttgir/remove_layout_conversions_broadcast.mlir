// tritongpu-remove-layout-conversions: a conversion of a broadcast becomes a conversion of its source, the row or
// column, which is smaller.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions | FileCheck %s

// CHECK: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#column = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#vector = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
#all = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // In the column's layout a thread would hold whole rows of the sum.
  // CHECK-LABEL: @column_into_sum
  // CHECK: ttg.convert_layout {{.*}} -> tensor<{{256|256x1}}xf32
  // CHECK: tt.broadcast {{.*}} -> tensor<256x64xf32, #[[WIDE]]>
  // CHECK: arith.addf {{.*}} : tensor<256x64xf32, #[[WIDE]]>
  // CHECK: scf.yield {{.*}} : tensor<256x64xf32, #[[WIDE]]>
  tt.func public @column_into_sum(%p: tensor<256x!tt.ptr<f32>, #line>, %n: i32, %q: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #wide}>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<256x64xf32, #wide>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<256x64xf32, #wide>) : i32 {
      %0 = tt.load %p : tensor<256x!tt.ptr<f32>, #line>
      %1 = ttg.convert_layout %0 : tensor<256xf32, #line> -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #column}>>
      %2 = tt.expand_dims %1 {axis = 1 : i32} : tensor<256xf32, #ttg.slice<{dim = 1, parent = #column}>> -> tensor<256x1xf32, #column>
      %3 = tt.broadcast %2 : tensor<256x1xf32, #column> -> tensor<256x64xf32, #column>
      %4 = ttg.convert_layout %3 : tensor<256x64xf32, #column> -> tensor<256x64xf32, #wide>
      %5 = arith.addf %s, %4 : tensor<256x64xf32, #wide>
      scf.yield %5 : tensor<256x64xf32, #wide>
    }
    %r = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<256x64xf32, #wide>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #wide}>>
    tt.store %q, %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #wide}>>
    tt.return
  }

  // A loop-carried matrix in the layout that it was loaded in; the outer product that is added to it is computed in that
  // layout.
  // CHECK-LABEL: @product_into_matrix
  // CHECK-NOT: ttg.convert_layout {{.*}} : tensor<256x256xf32
  // CHECK: tt.return
  tt.func public @product_into_matrix(%m: tensor<256x256x!tt.ptr<f32>, #vector>, %a: tensor<256x!tt.ptr<f32>, #line>, %b: tensor<256x!tt.ptr<f32>, #line>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = tt.load %m : tensor<256x256x!tt.ptr<f32>, #vector>
    %1 = ttg.convert_layout %0 : tensor<256x256xf32, #vector> -> tensor<256x256xf32, #wide>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %1) -> (tensor<256x256xf32, #wide>) : i32 {
      %2 = tt.load %a : tensor<256x!tt.ptr<f32>, #line>
      %3 = tt.load %b : tensor<256x!tt.ptr<f32>, #line>
      %4 = ttg.convert_layout %2 : tensor<256xf32, #line> -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #wide}>>
      %5 = ttg.convert_layout %3 : tensor<256xf32, #line> -> tensor<256xf32, #ttg.slice<{dim = 0, parent = #wide}>>
      %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<256xf32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<256x1xf32, #wide>
      %7 = tt.expand_dims %5 {axis = 0 : i32} : tensor<256xf32, #ttg.slice<{dim = 0, parent = #wide}>> -> tensor<1x256xf32, #wide>
      %8 = tt.broadcast %6 : tensor<256x1xf32, #wide> -> tensor<256x256xf32, #wide>
      %9 = tt.broadcast %7 : tensor<1x256xf32, #wide> -> tensor<256x256xf32, #wide>
      %10 = arith.mulf %8, %9 : tensor<256x256xf32, #wide>
      %11 = arith.addf %s, %10 : tensor<256x256xf32, #wide>
      scf.yield %11 : tensor<256x256xf32, #wide>
    }
    %12 = ttg.convert_layout %sum : tensor<256x256xf32, #wide> -> tensor<256x256xf32, #vector>
    tt.store %m, %12 : tensor<256x256x!tt.ptr<f32>, #vector>
    tt.return
  }

  // A load of no more elements than there are threads is done in the layout wanted.
  // CHECK-LABEL: @narrow_load
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #[[V:.*]]}>>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store {{.*}} : tensor<256x64x!tt.ptr<f32>, #[[V]]>
  tt.func public @narrow_load(%m: tensor<256x64x!tt.ptr<f32>, #vector>, %p: !tt.ptr<f32>) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #line>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #line>
    %t = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>, #line>, tensor<64xi32, #line>
    %0 = tt.load %t : tensor<64x!tt.ptr<f32>, #line>
    %1 = ttg.convert_layout %0 : tensor<64xf32, #line> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #vector}>>
    %2 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #vector}>> -> tensor<1x64xf32, #vector>
    %3 = tt.broadcast %2 : tensor<1x64xf32, #vector> -> tensor<256x64xf32, #vector>
    tt.store %m, %3 : tensor<256x64x!tt.ptr<f32>, #vector>
    tt.return
  }

  // Every thread holds all of the 256 sums: stored from there, one thread alone would store them one by one.
  // CHECK-LABEL: @copies_are_not_stored
  // CHECK: tt.store {{.*}} : tensor<256x!tt.ptr<f32>, #[[LINE:blocked[0-9]*]]>
  tt.func public @copies_are_not_stored(%m: tensor<256x128x!tt.ptr<f32>, #all>, %p: !tt.ptr<f32>) {
    %0 = tt.load %m : tensor<256x128x!tt.ptr<f32>, #all>
    %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<256x128xf32, #all>) -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #all}>>
    %2 = ttg.convert_layout %1 : tensor<256xf32, #ttg.slice<{dim = 1, parent = #all}>> -> tensor<256xf32, #line>
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #line>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #line>
    %t = tt.addptr %s, %r : tensor<256x!tt.ptr<f32>, #line>, tensor<256xi32, #line>
    tt.store %t, %2 : tensor<256x!tt.ptr<f32>, #line>
    tt.return
  }

  // In any order: every thread sums what it loaded.
  // CHECK-LABEL: @any_order
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @any_order(%m: tensor<256x64x!tt.ptr<f32>, #vector>, %p: !tt.ptr<f32>) {
    %0 = tt.load %m : tensor<256x64x!tt.ptr<f32>, #vector>
    %1 = ttg.convert_layout %0 : tensor<256x64xf32, #vector> -> tensor<256x64xf32, #wide>
    %2 = tt.reshape %1 allow_reorder : tensor<256x64xf32, #wide> -> tensor<16384xf32, #line>
    %3 = "tt.reduce"(%2) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<16384xf32, #line>) -> f32
    tt.store %p, %3 : !tt.ptr<f32>
    tt.return
  }

  // Loaded by columns, stored by rows: the scan along the rows is done where its runs are longer and stay in a warp.
  // CHECK-LABEL: @scan_by_rows
  // CHECK: ttg.convert_layout
  // CHECK: "tt.scan"
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @scan_by_rows(%m: tensor<64x64x!tt.ptr<f32>, #columns>, %q: tensor<64x64x!tt.ptr<f32>, #vector>) {
    %0 = tt.load %m : tensor<64x64x!tt.ptr<f32>, #columns>
    %1 = "tt.scan"(%0) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.scan.return %z : f32
    }) : (tensor<64x64xf32, #columns>) -> tensor<64x64xf32, #columns>
    %2 = ttg.convert_layout %1 : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #vector>
    tt.store %q, %2 : tensor<64x64x!tt.ptr<f32>, #vector>
    tt.return
  }
}
