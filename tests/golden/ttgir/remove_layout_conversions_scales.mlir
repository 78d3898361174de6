// A loop that scales the rows and the columns of a dot, without asynchronous copies. The loads of the scales move to the
// accumulator's layout: two elements a thread of the rows, and one of the columns, whose scales are equal. RDNA keeps
// them where they are: threads hold more of them there.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target gfx950 --verify-each | FileCheck %s
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target gfx1201 --verify-each | FileCheck %s --check-prefix=RDNA
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [8], order = [0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 4], instrShape = [32, 32, 64], isTransposed = true}>
#rows = #ttg.slice<{dim = 1, parent = #mma}>
#columns = #ttg.slice<{dim = 0, parent = #mma}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @scales
  // CHECK: scf.for
  // CHECK: tt.load {{.*}} : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #mma}>>
  // CHECK: tt.load {{.*}} : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #mma}>>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield
  // RDNA-LABEL: @scales
  // RDNA: scf.for
  // RDNA-COUNT-2: ttg.convert_layout
  // RDNA: scf.yield
  tt.func @scales(%x: tensor<128x128xf8E4M3FN, #a>, %y: tensor<128x128xf8E4M3FN, #b>, %sa: !tt.ptr<f32>, %sb: !tt.ptr<f32>, %n: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %one = arith.constant dense<1> : tensor<128xi32, #one>
    %block = arith.constant dense<128> : tensor<128xi32, #one>
    %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %stride = tt.splat %n : i32 -> tensor<128xi32, #one>
    %row = arith.muli %range, %stride : tensor<128xi32, #one>
    %ofBlock = arith.divsi %range, %block : tensor<128xi32, #one>
    %column = arith.muli %ofBlock, %stride : tensor<128xi32, #one>
    %pa = tt.splat %sa : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %pb = tt.splat %sb : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %pa0 = tt.addptr %pa, %row : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %pb0 = tt.addptr %pb, %column : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %r:3 = scf.for %i = %i0 to %n step %i1 iter_args(%acc = %zero, %p = %pa0, %q = %pb0) -> (tensor<128x128xf32, #mma>, tensor<128x!tt.ptr<f32>, #one>, tensor<128x!tt.ptr<f32>, #one>) : i32 {
      %s = tt.load %p : tensor<128x!tt.ptr<f32>, #one>
      %t = tt.load %q : tensor<128x!tt.ptr<f32>, #one>
      %d = tt.dot %x, %y, %zero : tensor<128x128xf8E4M3FN, #a> * tensor<128x128xf8E4M3FN, #b> -> tensor<128x128xf32, #mma>
      %s1 = ttg.convert_layout %s : tensor<128xf32, #one> -> tensor<128xf32, #rows>
      %s2 = tt.expand_dims %s1 {axis = 1 : i32} : tensor<128xf32, #rows> -> tensor<128x1xf32, #mma>
      %s3 = tt.broadcast %s2 : tensor<128x1xf32, #mma> -> tensor<128x128xf32, #mma>
      %e = arith.mulf %d, %s3 : tensor<128x128xf32, #mma>
      %t1 = ttg.convert_layout %t : tensor<128xf32, #one> -> tensor<128xf32, #columns>
      %t2 = tt.expand_dims %t1 {axis = 0 : i32} : tensor<128xf32, #columns> -> tensor<1x128xf32, #mma>
      %t3 = tt.broadcast %t2 : tensor<1x128xf32, #mma> -> tensor<128x128xf32, #mma>
      %f = arith.mulf %e, %t3 : tensor<128x128xf32, #mma>
      %g = arith.addf %acc, %f : tensor<128x128xf32, #mma>
      %p1 = tt.addptr %p, %one : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
      %q1 = tt.addptr %q, %one : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
      scf.yield %g, %p1, %q1 : tensor<128x128xf32, #mma>, tensor<128x!tt.ptr<f32>, #one>, tensor<128x!tt.ptr<f32>, #one>
    }
    tt.return %r#0 : tensor<128x128xf32, #mma>
  }
}
