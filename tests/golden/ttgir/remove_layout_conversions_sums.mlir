// A vector beside sums of rows is loaded in the layout of the sums, and the result is stored so. A vector of more
// elements than threads is not: it would be loaded several times.
// RUN: tessera opt %s -split-input-file -tritongpu-remove-layout-conversions --target gfx942 --verify-each | FileCheck %s
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#vector = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @scan_step
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #blocked}>>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store {{.*}} : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #blocked}>>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @scan_step(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %state: tensor<64x16xf32, #tile>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #vector>
    %dp = tt.splat %z : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #vector>
    %dq = tt.addptr %dp, %r : tensor<64x!tt.ptr<f32>, #vector>, tensor<64xi32, #vector>
    %d = tt.load %dq : tensor<64x!tt.ptr<f32>, #vector>
    scf.for %t = %zero to %n step %one : i32 {
      %f = arith.sitofp %t : i32 to f32
      %g = tt.splat %f : f32 -> tensor<64x16xf32, #tile>
      %h = arith.mulf %state, %g : tensor<64x16xf32, #tile>
      %s = "tt.reduce"(%h) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<64x16xf32, #tile>) -> tensor<64xf32, #rows>
      %v = ttg.convert_layout %s : tensor<64xf32, #rows> -> tensor<64xf32, #vector>
      %o = tt.splat %t : i32 -> tensor<64xi32, #vector>
      %i = arith.addi %r, %o : tensor<64xi32, #vector>
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #vector>
      %q = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>, #vector>, tensor<64xi32, #vector>
      %u = tt.load %q : tensor<64x!tt.ptr<f32>, #vector>
      %m = arith.mulf %u, %d : tensor<64xf32, #vector>
      %w = arith.addf %v, %m : tensor<64xf32, #vector>
      %k = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #vector>
      %l = tt.addptr %k, %i : tensor<64x!tt.ptr<f32>, #vector>, tensor<64xi32, #vector>
      tt.store %l, %w : tensor<64x!tt.ptr<f32>, #vector>
    }
    tt.return
  }
}

// -----

#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#vector = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @many_rows
  // CHECK: ttg.convert_layout
  // CHECK: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #blocked>
  tt.func @many_rows(%p: tensor<512x!tt.ptr<f32>, #vector>, %q: tensor<512x!tt.ptr<f32>, #vector>, %state: tensor<512x16xf32, #tile>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %t = %zero to %n step %one : i32 {
      %f = arith.sitofp %t : i32 to f32
      %g = tt.splat %f : f32 -> tensor<512x16xf32, #tile>
      %h = arith.mulf %state, %g : tensor<512x16xf32, #tile>
      %s = "tt.reduce"(%h) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<512x16xf32, #tile>) -> tensor<512xf32, #rows>
      %v = ttg.convert_layout %s : tensor<512xf32, #rows> -> tensor<512xf32, #vector>
      %u = tt.load %p : tensor<512x!tt.ptr<f32>, #vector>
      %w = arith.addf %v, %u : tensor<512xf32, #vector>
      tt.store %q, %w : tensor<512x!tt.ptr<f32>, #vector>
    }
    tt.return
  }
}
