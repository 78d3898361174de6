// tritongpu-coalesce: batches of operands are distributed over the warps where instructions are (MFMA, WMMA), and not
// halves of the matrices. Other loads of batches, of which nothing goes into a dot, stay.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=hip:gfx942 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=hip:gfx1201 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:90 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,NVIDIA
// AMD-DAG: #[[BATCHES:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 8], {{.*}}, warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 8], {{.*}}, warpsPerCTA = [{{1, 4|2, 2}}, 1], order = [2, 1, 0]}>
// CHECK-LABEL: @dot
// AMD-COUNT-2: tt.load %{{.*}} : tensor<4x64x32x!tt.ptr<f16>, #[[BATCHES]]>
// NVIDIA-COUNT-2: tt.load %{{.*}} : tensor<4x64x32x!tt.ptr<f16>, #[[ROWS]]>
// CHECK-LABEL: @copy
// CHECK: tt.load %{{.*}} : tensor<4x64x32x!tt.ptr<f16>, #[[ROWS]]>
tt.func public @dot(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %width = arith.constant dense<32> : tensor<1x64x1xi32>
  %size = arith.constant dense<2048> : tensor<4x1x1xi32>
  %g = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %g1 = tt.expand_dims %g {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %g2 = tt.expand_dims %g1 {axis = 2 : i32} : tensor<4x1xi32> -> tensor<4x1x1xi32>
  %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %r2 = tt.expand_dims %r1 {axis = 2 : i32} : tensor<1x64xi32> -> tensor<1x64x1xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.expand_dims %k1 {axis = 1 : i32} : tensor<1x32xi32> -> tensor<1x1x32xi32>
  %go = arith.muli %g2, %size : tensor<4x1x1xi32>
  %ro = arith.muli %r2, %width : tensor<1x64x1xi32>
  %gb = tt.broadcast %go : tensor<4x1x1xi32> -> tensor<4x64x1xi32>
  %rb = tt.broadcast %ro : tensor<1x64x1xi32> -> tensor<4x64x1xi32>
  %gr = arith.addi %gb, %rb : tensor<4x64x1xi32>
  %grb = tt.broadcast %gr : tensor<4x64x1xi32> -> tensor<4x64x32xi32>
  %kb = tt.broadcast %k2 : tensor<1x1x32xi32> -> tensor<4x64x32xi32>
  %i = arith.addi %grb, %kb : tensor<4x64x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<4x64x32x!tt.ptr<f16>>
  %pa = tt.addptr %as, %i : tensor<4x64x32x!tt.ptr<f16>>, tensor<4x64x32xi32>
  %x = tt.load %pa : tensor<4x64x32x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<4x64x32x!tt.ptr<f16>>
  %pb = tt.addptr %bs, %i : tensor<4x64x32x!tt.ptr<f16>>, tensor<4x64x32xi32>
  %y = tt.load %pb : tensor<4x64x32x!tt.ptr<f16>>
  %t = tt.trans %y {order = array<i32: 0, 2, 1>} : tensor<4x64x32xf16> -> tensor<4x32x64xf16>
  %zero = arith.constant dense<0.000000e+00> : tensor<4x64x64xf32>
  %d = tt.dot %x, %t, %zero : tensor<4x64x32xf16> * tensor<4x32x64xf16> -> tensor<4x64x64xf32>
  %m = "tt.reduce"(%d) <{axis = 2 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tt.reduce.return %s : f32
  }) : (tensor<4x64x64xf32>) -> tensor<4x64xf32>
  %ri = tt.broadcast %r1 : tensor<1x64xi32> -> tensor<4x64xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %ri : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  tt.store %pc, %m : tensor<4x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @copy(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %width = arith.constant dense<32> : tensor<1x64x1xi32>
  %size = arith.constant dense<2048> : tensor<4x1x1xi32>
  %g = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %g1 = tt.expand_dims %g {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %g2 = tt.expand_dims %g1 {axis = 2 : i32} : tensor<4x1xi32> -> tensor<4x1x1xi32>
  %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %r2 = tt.expand_dims %r1 {axis = 2 : i32} : tensor<1x64xi32> -> tensor<1x64x1xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.expand_dims %k1 {axis = 1 : i32} : tensor<1x32xi32> -> tensor<1x1x32xi32>
  %go = arith.muli %g2, %size : tensor<4x1x1xi32>
  %ro = arith.muli %r2, %width : tensor<1x64x1xi32>
  %gb = tt.broadcast %go : tensor<4x1x1xi32> -> tensor<4x64x1xi32>
  %rb = tt.broadcast %ro : tensor<1x64x1xi32> -> tensor<4x64x1xi32>
  %gr = arith.addi %gb, %rb : tensor<4x64x1xi32>
  %grb = tt.broadcast %gr : tensor<4x64x1xi32> -> tensor<4x64x32xi32>
  %kb = tt.broadcast %k2 : tensor<1x1x32xi32> -> tensor<4x64x32xi32>
  %i = arith.addi %grb, %kb : tensor<4x64x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<4x64x32x!tt.ptr<f16>>
  %pa = tt.addptr %as, %i : tensor<4x64x32x!tt.ptr<f16>>, tensor<4x64x32xi32>
  %x = tt.load %pa : tensor<4x64x32x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<4x64x32x!tt.ptr<f16>>
  %pb = tt.addptr %bs, %i : tensor<4x64x32x!tt.ptr<f16>>, tensor<4x64x32xi32>
  tt.store %pb, %x : tensor<4x64x32x!tt.ptr<f16>>
  tt.return
}
