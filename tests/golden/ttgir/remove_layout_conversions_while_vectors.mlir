// While loops without dots: pointers are carried in the layout in which they are loaded, sums of rows in that of the
// sums, and what the first region computes and hands on in the layout in which the second one wants it. Not where
// nothing in the loop is converted.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_80 | FileCheck %s
// CHECK-DAG: #[[LINE:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32]
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8]
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#now = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @sums
  // CHECK: scf.while {{.*}} : (tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[WIDE]]}>>, tensor<64x32x!tt.ptr<f32>, #[[WIDE]]>, i32)
  // CHECK-NOT: convert_layout
  // CHECK: scf.yield
  tt.func public @sums(%x: !tt.ptr<f32>, %out: tensor<64x!tt.ptr<f32>, #line>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64xf32, #line>
    %step = arith.constant dense<32> : tensor<64x32xi32, #now>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = tt.splat %x : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>, #now>
    %r:3 = scf.while (%s = %zero, %p = %all, %i = %c0) : (tensor<64xf32, #line>, tensor<64x32x!tt.ptr<f32>, #now>, i32) -> (tensor<64xf32, #line>, tensor<64x32x!tt.ptr<f32>, #now>, i32) {
      %c = arith.cmpi slt, %i, %n : i32
      scf.condition(%c) %s, %p, %i : tensor<64xf32, #line>, tensor<64x32x!tt.ptr<f32>, #now>, i32
    } do {
    ^bb0(%s: tensor<64xf32, #line>, %p: tensor<64x32x!tt.ptr<f32>, #now>, %i: i32):
      %q = ttg.convert_layout %p : tensor<64x32x!tt.ptr<f32>, #now> -> tensor<64x32x!tt.ptr<f32>, #wide>
      %v = tt.load %q : tensor<64x32x!tt.ptr<f32>, #wide>
      %rows = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %q2 = arith.addf %a, %b : f32
        tt.reduce.return %q2 : f32
      }) : (tensor<64x32xf32, #wide>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #wide}>>
      %t = ttg.convert_layout %rows : tensor<64xf32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<64xf32, #line>
      %u = arith.addf %s, %t : tensor<64xf32, #line>
      %next = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f32>, #now>, tensor<64x32xi32, #now>
      %j = arith.addi %i, %c1 : i32
      scf.yield %u, %next, %j : tensor<64xf32, #line>, tensor<64x32x!tt.ptr<f32>, #now>, i32
    }
    tt.store %out, %r#0 : tensor<64x!tt.ptr<f32>, #line>
    tt.return
  }
  // The first region hands on other values than it is given.
  // CHECK-LABEL: @handed_on
  // CHECK: scf.while
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func public @handed_on(%x: !tt.ptr<i32>, %out: tensor<128x!tt.ptr<i32>, #four>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #line>
    %r = scf.while (%i = %c0) : (i32) -> tensor<128xi32, #line> {
      %c = arith.cmpi slt, %i, %n : i32
      %is = tt.splat %i : i32 -> tensor<128xi32, #line>
      %at = arith.muli %is, %range : tensor<128xi32, #line>
      scf.condition(%c) %at : tensor<128xi32, #line>
    } do {
    ^bb0(%at: tensor<128xi32, #line>):
      %f = ttg.convert_layout %at : tensor<128xi32, #line> -> tensor<128xi32, #four>
      %ps = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #four>
      %p = tt.addptr %ps, %f : tensor<128x!tt.ptr<i32>, #four>, tensor<128xi32, #four>
      %v = tt.atomic_rmw add, relaxed, gpu, %p, %f : (tensor<128x!tt.ptr<i32>, #four>, tensor<128xi32, #four>) -> tensor<128xi32, #four>
      %j = tt.load %x {isVolatile = true} : !tt.ptr<i32>
      scf.yield %j : i32
    }
    %last = ttg.convert_layout %r : tensor<128xi32, #line> -> tensor<128xi32, #four>
    tt.store %out, %last : tensor<128x!tt.ptr<i32>, #four>
    tt.return
  }
  // CHECK-LABEL: @own_layout
  // CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<128xi32, #[[LINE]]>) -> tensor<128xi32, #[[LINE]]>
  tt.func public @own_layout(%in: tensor<128x!tt.ptr<i32>, #line>, %out: tensor<128x!tt.ptr<i32>, #four>) {
    %first = tt.load %in : tensor<128x!tt.ptr<i32>, #line>
    %r = scf.while (%v = %first) : (tensor<128xi32, #line>) -> tensor<128xi32, #line> {
      %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %q = arith.addi %a, %b : i32
        tt.reduce.return %q : i32
      }) : (tensor<128xi32, #line>) -> i32
      %c0 = arith.constant 0 : i32
      %c = arith.cmpi ne, %sum, %c0 : i32
      scf.condition(%c) %v : tensor<128xi32, #line>
    } do {
    ^bb0(%v: tensor<128xi32, #line>):
      %w = arith.muli %v, %v : tensor<128xi32, #line>
      scf.yield %w : tensor<128xi32, #line>
    }
    %last = ttg.convert_layout %r : tensor<128xi32, #line> -> tensor<128xi32, #four>
    tt.store %out, %last : tensor<128x!tt.ptr<i32>, #four>
    tt.return
  }
}
