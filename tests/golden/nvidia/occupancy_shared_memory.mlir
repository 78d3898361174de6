// Occupancy hint of a kernel that shared memory limits: a loop over 64 x 64 x 128 with five stages takes 160 KiB, so
// one block fits on an SM and ptxas may use all registers. With one stage there is no hint.
// RUN: tessera compile %s --target sm_90a --num-warps 4 --num-stages 5 --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --target sm_90a --num-warps 4 --num-stages 1 --emit ptx -o - | FileCheck %s --check-prefix=ONE
// CHECK: .minnctapersm 1{{$}}
// CHECK: wgmma.mma_async
// ONE-NOT: .minnctapersm
// ONE: wgmma.mma_async

tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %arow = arith.constant dense<4096> : tensor<64x1xi32>
  %brow = arith.constant dense<64> : tensor<128x1xi32>
  %crow = arith.constant dense<64> : tensor<64x1xi32>
  %astep = arith.constant dense<128> : tensor<64x128xi32>
  %bstep = arith.constant dense<8192> : tensor<128x64xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %nn = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k = tt.expand_dims %r128 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %kk = tt.expand_dims %r128 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %am = arith.muli %m, %arow : tensor<64x1xi32>
  %amb = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x128xi32>
  %ak = tt.broadcast %k : tensor<1x128xi32> -> tensor<64x128xi32>
  %ao = arith.addi %amb, %ak : tensor<64x128xi32>
  %bk = arith.muli %kk, %brow : tensor<128x1xi32>
  %bkb = tt.broadcast %bk : tensor<128x1xi32> -> tensor<128x64xi32>
  %bn = tt.broadcast %nn : tensor<1x64xi32> -> tensor<128x64xi32>
  %bo = arith.addi %bkb, %bn : tensor<128x64xi32>
  %cm = arith.muli %m, %crow : tensor<64x1xi32>
  %cmb = tt.broadcast %cm : tensor<64x1xi32> -> tensor<64x64xi32>
  %cn = tt.broadcast %nn : tensor<1x64xi32> -> tensor<64x64xi32>
  %co = arith.addi %cmb, %cn : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %pa = tt.addptr %as, %ao : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pb = tt.addptr %bs, %bo : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %qa = %pa, %qb = %pb) -> (tensor<64x64xf32>, tensor<64x128x!tt.ptr<f16>>, tensor<128x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %qa : tensor<64x128x!tt.ptr<f16>>
    %y = tt.load %qb : tensor<128x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<64x128xf16> * tensor<128x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %qa, %astep : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %nb = tt.addptr %qb, %bstep : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x128x!tt.ptr<f16>>, tensor<128x64x!tt.ptr<f16>>
  }
  tt.store %pc, %sum#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
