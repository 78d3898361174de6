// A vector that a loop carries, converts and updates by sums of rows, as the direction of conjugate gradients: it is
// carried in the layout of the sums, from which it is converted as well as from its own. Not where a store in the loop
// wants it as it is.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_80 | FileCheck %s
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8]
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #wide}>
#columns = #ttg.slice<{dim = 0, parent = #wide}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @direction
  // CHECK: scf.for {{.*}} -> (tensor<256xf32, #ttg.slice<{dim = 1, parent = #[[WIDE]]}>>)
  // CHECK: ttg.convert_layout
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield
  tt.func public @direction(%x: tensor<256x256xf32, #wide>, %in: tensor<256x!tt.ptr<f32>, #line>, %out: tensor<256x!tt.ptr<f32>, #line>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = tt.load %in : tensor<256x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first) -> (tensor<256xf32, #line>) : i32 {
      %c = ttg.convert_layout %p : tensor<256xf32, #line> -> tensor<256xf32, #columns>
      %e = tt.expand_dims %c {axis = 0 : i32} : tensor<256xf32, #columns> -> tensor<1x256xf32, #wide>
      %b = tt.broadcast %e : tensor<1x256xf32, #wide> -> tensor<256x256xf32, #wide>
      %m = arith.mulf %x, %b : tensor<256x256xf32, #wide>
      %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
      ^bb0(%f: f32, %g: f32):
        %q = arith.addf %f, %g : f32
        tt.reduce.return %q : f32
      }) : (tensor<256x256xf32, #wide>) -> tensor<256xf32, #rows>
      %t = ttg.convert_layout %s : tensor<256xf32, #rows> -> tensor<256xf32, #line>
      %u = arith.subf %p, %t : tensor<256xf32, #line>
      scf.yield %u : tensor<256xf32, #line>
    }
    tt.store %out, %r : tensor<256x!tt.ptr<f32>, #line>
    tt.return
  }
  // CHECK-LABEL: @stored
  // CHECK: scf.for {{.*}} -> (tensor<256xf32, #{{[a-z0-9]*}}>)
  tt.func public @stored(%x: tensor<256x256xf32, #wide>, %in: tensor<256x!tt.ptr<f32>, #line>, %out: tensor<256x!tt.ptr<f32>, #line>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = tt.load %in : tensor<256x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first) -> (tensor<256xf32, #line>) : i32 {
      tt.store %in, %p : tensor<256x!tt.ptr<f32>, #line>
      %c = ttg.convert_layout %p : tensor<256xf32, #line> -> tensor<256xf32, #columns>
      %e = tt.expand_dims %c {axis = 0 : i32} : tensor<256xf32, #columns> -> tensor<1x256xf32, #wide>
      %b = tt.broadcast %e : tensor<1x256xf32, #wide> -> tensor<256x256xf32, #wide>
      %m = arith.mulf %x, %b : tensor<256x256xf32, #wide>
      %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
      ^bb0(%f: f32, %g: f32):
        %q = arith.addf %f, %g : f32
        tt.reduce.return %q : f32
      }) : (tensor<256x256xf32, #wide>) -> tensor<256xf32, #rows>
      %t = ttg.convert_layout %s : tensor<256xf32, #rows> -> tensor<256xf32, #line>
      %u = arith.subf %p, %t : tensor<256xf32, #line>
      scf.yield %u : tensor<256xf32, #line>
    }
    tt.store %out, %r : tensor<256x!tt.ptr<f32>, #line>
    tt.return
  }
}
