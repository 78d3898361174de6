// tritongpu-remove-layout-conversions: a division of row indices by a constant is recomputed in the layout wanted, as
// other index arithmetic is, and so is a select on it. Otherwise the loaded tensor would go through shared memory in
// every iteration.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --emit ttgir -o - | FileCheck %s
// CHECK-LABEL: @weighted
// CHECK: scf.for
// CHECK-NOT: ttg.convert_layout
// CHECK: scf.yield
tt.func public @weighted(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %step = arith.constant 32 : i32
  %end = arith.constant 4096 : i32
  %first = arith.constant 0 : i32
  %zeros = arith.constant dense<0.0> : tensor<16x32xf32>
  %ones = arith.constant dense<1.0> : tensor<16x32xf32>
  %seven = arith.constant dense<7> : tensor<16x1xi32>
  %part = arith.constant dense<126> : tensor<16x1xi32>
  %limit = arith.constant dense<3136> : tensor<16x32xi32>
  %width = arith.constant dense<448> : tensor<1x32xi32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %columns = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %group = arith.divsi %rows, %seven : tensor<16x1xi32>
  %start = arith.muli %group, %part : tensor<16x1xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %all:3 = scf.for %i = %first to %end step %step iter_args(%mean = %zeros, %m2 = %zeros, %weight = %zeros) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<1x32xi32>
    %at = arith.addi %is, %columns : tensor<1x32xi32>
    %a0 = tt.broadcast %at : tensor<1x32xi32> -> tensor<16x32xi32>
    %s0 = tt.broadcast %start : tensor<16x1xi32> -> tensor<16x32xi32>
    %index = arith.addi %a0, %s0 : tensor<16x32xi32>
    %inside = arith.cmpi slt, %index, %limit : tensor<16x32xi32>
    %line = arith.muli %at, %width : tensor<1x32xi32>
    %l0 = tt.broadcast %line : tensor<1x32xi32> -> tensor<16x32xi32>
    %r0 = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x32xi32>
    %o = arith.addi %l0, %r0 : tensor<16x32xi32>
    %pp = tt.addptr %ps, %o : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %last = arith.constant dense<4090> : tensor<1x32xi32>
    %m0 = arith.cmpi slt, %at, %last : tensor<1x32xi32>
    %m1 = tt.broadcast %m0 : tensor<1x32xi1> -> tensor<16x32xi1>
    %fifteen = arith.constant dense<15> : tensor<16x1xi32>
    %n0 = arith.cmpi slt, %rows, %fifteen : tensor<16x1xi32>
    %n1 = tt.broadcast %n0 : tensor<16x1xi1> -> tensor<16x32xi1>
    %both = arith.andi %m1, %n1 : tensor<16x32xi1>
    %mask = arith.andi %both, %inside : tensor<16x32xi1>
    %x = tt.load %pp, %mask, %zeros : tensor<16x32x!tt.ptr<f32>>
    %w = arith.select %inside, %ones, %zeros : tensor<16x32xi1>, tensor<16x32xf32>
    %delta = arith.subf %x, %mean : tensor<16x32xf32>
    %sum = arith.addf %weight, %w : tensor<16x32xf32>
    %share = arith.divf %w, %sum : tensor<16x32xf32>
    %d = arith.mulf %delta, %share : tensor<16x32xf32>
    %next = arith.addf %mean, %d : tensor<16x32xf32>
    %square = arith.mulf %delta, %delta : tensor<16x32xf32>
    %scaled = arith.mulf %square, %share : tensor<16x32xf32>
    %spread = arith.addf %m2, %scaled : tensor<16x32xf32>
    %next1 = arith.select %both, %next, %mean : tensor<16x32xi1>, tensor<16x32xf32>
    %spread1 = arith.select %both, %spread, %m2 : tensor<16x32xi1>, tensor<16x32xf32>
    %sum1 = arith.select %both, %sum, %weight : tensor<16x32xi1>, tensor<16x32xf32>
    scf.yield %next1, %spread1, %sum1 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
  %m:3 = "tt.reduce"(%all#0, %all#1, %all#2) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32, %z: f32, %u: f32, %v: f32, %w: f32):
    %a = arith.addf %x, %u : f32
    %b = arith.addf %y, %v : f32
    %d = arith.addf %z, %w : f32
    tt.reduce.return %a, %b, %d : f32, f32, f32
  }) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %mv = arith.mulf %m#0, %m#1 : tensor<16xf32>
  %mw = arith.mulf %mv, %m#2 : tensor<16xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %qp = tt.addptr %qs, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %qp, %mw : tensor<16x!tt.ptr<f32>>
  tt.return
}
