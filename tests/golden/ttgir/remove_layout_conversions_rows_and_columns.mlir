// tritongpu-remove-layout-conversions where a row or a column is combined with a matrix: the smaller side is converted.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each --split-input-file | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tall = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows16 = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#down = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
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

  // A buffer is filled from the layout that its value has.
  // CHECK-LABEL: @into_buffer
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttg.local_alloc
  tt.func public @into_buffer(%p: tensor<256x64x!tt.ptr<f16>, #wide>) -> !ttg.memdesc<256x64xf16, #shared, #smem> {
    %0 = tt.load %p : tensor<256x64x!tt.ptr<f16>, #wide>
    %1 = ttg.convert_layout %0 : tensor<256x64xf16, #wide> -> tensor<256x64xf16, #rows>
    %2 = ttg.local_alloc %1 : (tensor<256x64xf16, #rows>) -> !ttg.memdesc<256x64xf16, #shared, #smem>
    tt.return %2 : !ttg.memdesc<256x64xf16, #shared, #smem>
  }

  // Of what a select takes, the condition is converted; the result is stored from where it is.
  // CHECK-LABEL: @select
  // CHECK: ttg.convert_layout {{.*}}xi1,
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @select(%c: tensor<256x64x!tt.ptr<i8>, #rows>, %p: tensor<256x64x!tt.ptr<f32>, #wide>, %zero: tensor<256x64xi8, #rows>, %out: !tt.ptr<f32>) {
    %z = arith.constant dense<0.0> : tensor<256x64xf32, #tall>
    %0 = tt.load %c : tensor<256x64x!tt.ptr<i8>, #rows>
    %1 = arith.cmpi ne, %0, %zero : tensor<256x64xi8, #rows>
    %2 = ttg.convert_layout %1 : tensor<256x64xi1, #rows> -> tensor<256x64xi1, #tall>
    %3 = tt.load %p : tensor<256x64x!tt.ptr<f32>, #wide>
    %4 = ttg.convert_layout %3 : tensor<256x64xf32, #wide> -> tensor<256x64xf32, #tall>
    %5 = arith.select %2, %4, %z : tensor<256x64xi1, #tall>, tensor<256x64xf32, #tall>
    %6 = ttg.convert_layout %5 : tensor<256x64xf32, #tall> -> tensor<256x64xf32, #rows>
    %7 = tt.splat %out : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>, #rows>
    tt.store %7, %6 : tensor<256x64x!tt.ptr<f32>, #rows>
    tt.return
  }

  // A row that is in the operation's layout does not hold a matrix that is not.
  // CHECK-LABEL: @matrix_by_row
  // CHECK-NOT: ttg.convert_layout {{.*}} : tensor<256x64xf32
  // CHECK: tt.return
  tt.func public @matrix_by_row(%r: tensor<1x64x!tt.ptr<f32>, #rows>, %p: tensor<256x64x!tt.ptr<f32>, #wide>, %n: i32, %q: tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<256x64xf32, #rows>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<256x64xf32, #rows>) : i32 {
      %2 = tt.load %p : tensor<256x64x!tt.ptr<f32>, #wide>
      %0 = tt.load %r : tensor<1x64x!tt.ptr<f32>, #rows>
      %3 = ttg.convert_layout %2 : tensor<256x64xf32, #wide> -> tensor<256x64xf32, #rows>
      %1 = tt.broadcast %0 : tensor<1x64xf32, #rows> -> tensor<256x64xf32, #rows>
      %4 = arith.mulf %3, %1 : tensor<256x64xf32, #rows>
      %5 = arith.addf %s, %4 : tensor<256x64xf32, #rows>
      scf.yield %5 : tensor<256x64xf32, #rows>
    }
    %6 = "tt.reduce"(%sum) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %7 = arith.addf %x, %y : f32
      tt.reduce.return %7 : f32
    }) : (tensor<256x64xf32, #rows>) -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %q, %6 : tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }

  // The layout of a column stays with the column: in it a thread would hold whole rows of the matrix.
  // CHECK-LABEL: @column
  // CHECK: %[[C:.*]] = ttg.convert_layout %{{.*}} : tensor<16x{{(1x)?}}f32,
  // CHECK: tt.broadcast %{{.*}} -> tensor<16x64xf32, #[[ROWS:.*]]>
  // CHECK: "tt.reduce"{{.*}}
  // CHECK: (tensor<16x64xf32, #[[ROWS]]>)
  tt.func public @column(%c: tensor<16x1xf32, #down>, %s: tensor<16x64xf32, #rows>, %q: tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %e = math.exp %c : tensor<16x1xf32, #down>
    %0 = ttg.convert_layout %e : tensor<16x1xf32, #down> -> tensor<16x1xf32, #rows>
    %1 = tt.broadcast %0 : tensor<16x1xf32, #rows> -> tensor<16x64xf32, #rows>
    %2 = arith.mulf %1, %1 : tensor<16x64xf32, #rows>
    %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %4 = arith.addf %x, %y : f32
      tt.reduce.return %4 : f32
    }) : (tensor<16x64xf32, #rows>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %q, %3 : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
}
