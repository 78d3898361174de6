// Conversions that vanish, move to cheaper places or stay.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each --split-input-file | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tall = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Index arithmetic is made in the layout of its use, a division too where nothing else uses it.
  // CHECK-LABEL: @moves
  // CHECK-NOT: ttg.convert_layout
  // CHECK: arith.remsi
  // CHECK-NOT: arith.remsi
  // CHECK: tt.return
  tt.func public @moves(%p: !tt.ptr<f32>, %n: i32) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %1 = tt.splat %n : i32 -> tensor<1024xi32, #a>
    %2 = arith.remsi %0, %1 : tensor<1024xi32, #a>
    %3 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
    %4 = tt.addptr %3, %2 : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    %5 = ttg.convert_layout %4 : tensor<1024x!tt.ptr<f32>, #a> -> tensor<1024x!tt.ptr<f32>, #b>
    %6 = tt.load %5 : tensor<1024x!tt.ptr<f32>, #b>
    tt.store %5, %6 : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }

  // A pointer that a loop carries is carried in the layout of the load.
  // CHECK-LABEL: @carried
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.for {{.*}} -> (tensor<1024x!tt.ptr<f32>, #[[B:.*]]>)
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[B]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @carried(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<1024> : tensor<1024xi32, #a>
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %1 = tt.splat %n : i32 -> tensor<1024xi32, #a>
    %2 = arith.remsi %0, %1 : tensor<1024xi32, #a>
    %3 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
    %4 = tt.addptr %3, %2 : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    %5 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %4) -> (tensor<1024x!tt.ptr<f32>, #a>) : i32 {
      %6 = ttg.convert_layout %q : tensor<1024x!tt.ptr<f32>, #a> -> tensor<1024x!tt.ptr<f32>, #b>
      %7 = tt.load %6 : tensor<1024x!tt.ptr<f32>, #b>
      tt.store %6, %7 : tensor<1024x!tt.ptr<f32>, #b>
      %8 = tt.addptr %q, %step : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
      scf.yield %8 : tensor<1024x!tt.ptr<f32>, #a>
    }
    tt.return
  }

  // The narrow side of a cast is converted.
  // CHECK-LABEL: @narrow
  // CHECK: %[[C:.*]] = ttg.convert_layout %{{.*}} : tensor<1024xf16, {{.*}}> -> tensor<1024xf16,
  // CHECK: arith.extf %[[C]]
  tt.func public @narrow(%p: tensor<1024x!tt.ptr<f16>, #b>, %q: tensor<1024x!tt.ptr<f32>, #a>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f16>, #b>
    %1 = arith.extf %0 : tensor<1024xf16, #b> to tensor<1024xf32, #b>
    %2 = ttg.convert_layout %1 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    tt.store %q, %2 : tensor<1024x!tt.ptr<f32>, #a>
    tt.return
  }

  // A scan is done where its operand is.
  // CHECK-LABEL: @scanned
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @scanned(%p: tensor<1024x!tt.ptr<f32>, #b>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #b>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    %2 = "tt.scan"(%1) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%x: f32, %y: f32):
      %4 = arith.addf %x, %y : f32
      tt.scan.return %4 : f32
    }) : (tensor<1024xf32, #a>) -> tensor<1024xf32, #a>
    %3 = ttg.convert_layout %2 : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
    tt.store %p, %3 : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }

  // What is used in both layouts and dear to make is made once.
  // CHECK-LABEL: @both
  // CHECK: math.exp
  // CHECK-NOT: math.exp
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @both(%p: tensor<1024x!tt.ptr<f32>, #b>, %q: tensor<1024x!tt.ptr<f32>, #a>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #b>
    %1 = math.exp %0 : tensor<1024xf32, #b>
    tt.store %p, %1 : tensor<1024x!tt.ptr<f32>, #b>
    %2 = ttg.convert_layout %1 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    tt.store %q, %2 : tensor<1024x!tt.ptr<f32>, #a>
    tt.return
  }

  // A row that was made a matrix, times a matrix: the matrix stays where it was loaded, and the row is converted before it is broadcast.
  // CHECK-LABEL: @row_times_matrix
  // CHECK: ttg.convert_layout {{.*}} : tensor<1x64xf32
  // CHECK-NOT: ttg.convert_layout {{.*}} : tensor<256x64xf32
  // CHECK: tt.return
  tt.func public @row_times_matrix(%r: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tall}>>, %p: tensor<256x64x!tt.ptr<f32>, #wide>, %q: tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %0 = tt.load %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tall}>>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #tall}>> -> tensor<1x64xf32, #tall>
    %2 = tt.broadcast %1 : tensor<1x64xf32, #tall> -> tensor<256x64xf32, #tall>
    %3 = ttg.convert_layout %2 : tensor<256x64xf32, #tall> -> tensor<256x64xf32, #rows>
    %4 = tt.load %p : tensor<256x64x!tt.ptr<f32>, #wide>
    %5 = ttg.convert_layout %4 : tensor<256x64xf32, #wide> -> tensor<256x64xf32, #rows>
    %6 = arith.mulf %3, %5 : tensor<256x64xf32, #rows>
    %7 = "tt.reduce"(%6) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %8 = arith.addf %x, %y : f32
      tt.reduce.return %8 : f32
    }) : (tensor<256x64xf32, #rows>) -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %q, %7 : tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
}
