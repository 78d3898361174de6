// RUN: tessera opt %s --target sm_90a -tritongpu-remove-layout-conversions --verify-each --split-input-file | FileCheck %s

// Layouts for the states of recurrences. Four warps hold 128x32 elements, which each iteration scales by a column and
// reduces along the first axis. In the default layout warps exchange partial results in each iteration; in the other
// one each warp has columns of its own.
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#memory = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#vector = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#column = #ttg.slice<{dim = 1, parent = #default}>
#row = #ttg.slice<{dim = 0, parent = #default}>

// CHECK: #[[STATE:.*]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [{{8, 4|16, 2}}], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The vector, too, is loaded in the layout's slice, and its sum needs no other warp; only what is stored at the end is
  // converted.
  // CHECK-LABEL: @from_zeros
  // CHECK: scf.for
  // CHECK-NOT: convert_layout
  // CHECK: tt.load {{.*}} : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[STATE]]}>>
  // CHECK-NOT: convert_layout
  // CHECK: "tt.reduce"
  // CHECK: (tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[STATE]]}>>) -> f32
  // CHECK-NOT: convert_layout
  // CHECK: "tt.reduce"
  // CHECK: (tensor<128x32xf32, #[[STATE]]>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #[[STATE]]}>>
  // CHECK-NOT: convert_layout
  // CHECK: scf.yield
  tt.func @from_zeros(%gs: !tt.ptr<f32>, %os: !tt.ptr<f32>, %at: tensor<128x32x!tt.ptr<f32>, #memory>, %n: i32) {
    %zeros = arith.constant dense<0.0> : tensor<128x32xf32, #default>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %next = arith.constant dense<128> : tensor<128xi32, #vector>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #vector>
    %gw = tt.splat %gs : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #vector>
    %g = tt.addptr %gw, %range : tensor<128x!tt.ptr<f32>, #vector>, tensor<128xi32, #vector>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #vector>
    %ow = tt.splat %os : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #vector>
    %o = tt.addptr %ow, %columns : tensor<32x!tt.ptr<f32>, #vector>, tensor<32xi32, #vector>
    %h:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros, %p = %g) -> (tensor<128x32xf32, #default>, tensor<128x!tt.ptr<f32>, #vector>) : i32 {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>, #vector>
      %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ab = arith.addf %a, %b : f32
        tt.reduce.return %ab : f32
      }) : (tensor<128xf32, #vector>) -> f32
      %all = tt.splat %sum : f32 -> tensor<128xf32, #vector>
      %y = arith.divf %x, %all : tensor<128xf32, #vector>
      %yc = ttg.convert_layout %y : tensor<128xf32, #vector> -> tensor<128xf32, #column>
      %c = tt.expand_dims %yc {axis = 1 : i32} : tensor<128xf32, #column> -> tensor<128x1xf32, #default>
      %wide = tt.broadcast %c : tensor<128x1xf32, #default> -> tensor<128x32xf32, #default>
      %m = arith.mulf %s, %wide : tensor<128x32xf32, #default>
      %t = arith.addf %m, %wide : tensor<128x32xf32, #default>
      %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ab = arith.addf %a, %b : f32
        tt.reduce.return %ab : f32
      }) : (tensor<128x32xf32, #default>) -> tensor<32xf32, #row>
      %rv = ttg.convert_layout %r : tensor<32xf32, #row> -> tensor<32xf32, #vector>
      tt.store %o, %rv : tensor<32x!tt.ptr<f32>, #vector>
      %q = tt.addptr %p, %next : tensor<128x!tt.ptr<f32>, #vector>, tensor<128xi32, #vector>
      scf.yield %t, %q : tensor<128x32xf32, #default>, tensor<128x!tt.ptr<f32>, #vector>
    }
    %last = ttg.convert_layout %h#0 : tensor<128x32xf32, #default> -> tensor<128x32xf32, #memory>
    tt.store %at, %last : tensor<128x32x!tt.ptr<f32>, #memory>
    tt.return
  }
}

// -----

#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#memory = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #memory}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A state that is loaded keeps the layout in which it is.
  // CHECK-LABEL: @loaded
  // CHECK: scf.for
  // CHECK-NOT: warpsPerCTA = [1, 4]
  // CHECK: "tt.reduce"
  // CHECK: (tensor<128x32xf32, #[[LOADED:.*]]>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #[[LOADED]]}>>
  tt.func @loaded(%o: tensor<32x!tt.ptr<f32>, #row>, %at: tensor<128x32x!tt.ptr<f32>, #memory>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = tt.load %at : tensor<128x32x!tt.ptr<f32>, #memory>
    %h = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> (tensor<128x32xf32, #memory>) : i32 {
      %t = arith.addf %s, %s : tensor<128x32xf32, #memory>
      %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ab = arith.addf %a, %b : f32
        tt.reduce.return %ab : f32
      }) : (tensor<128x32xf32, #memory>) -> tensor<32xf32, #row>
      tt.store %o, %r : tensor<32x!tt.ptr<f32>, #row>
      scf.yield %t : tensor<128x32xf32, #memory>
    }
    tt.store %at, %h : tensor<128x32x!tt.ptr<f32>, #memory>
    tt.return
  }
}

// -----

#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #default}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Nor does a layout change in which a function takes arguments.
  // CHECK: #[[ARGUMENT:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
  // CHECK-LABEL: @argument
  // CHECK: (tensor<128x32xf32, #[[ARGUMENT]]>) -> tensor<32xf32
  tt.func @argument(%x: tensor<128x32xf32, #default>, %o: tensor<32x!tt.ptr<f32>, #row>, %n: i32) {
    %zeros = arith.constant dense<0.0> : tensor<128x32xf32, #default>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %h = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (tensor<128x32xf32, #default>) : i32 {
      %t = arith.addf %s, %x : tensor<128x32xf32, #default>
      %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ab = arith.addf %a, %b : f32
        tt.reduce.return %ab : f32
      }) : (tensor<128x32xf32, #default>) -> tensor<32xf32, #row>
      tt.store %o, %r : tensor<32x!tt.ptr<f32>, #row>
      scf.yield %t : tensor<128x32xf32, #default>
    }
    tt.return
  }
}
