// More warps than requested on RDNA: the accumulator of 128 x 256 takes 256 registers of a thread in 4 warps, all that
// there are. CDNA's estimate predicts no spills.
// RUN: tessera compile %s --target gfx1201 --emit ttgir -o - | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %s --target gfx1201 --exact-num-warps --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --target gfx942 --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// gfx1100's operands are twice as large: each half of a warp has a copy of them.
// RUN: tessera compile %s --target gfx1100 --emit ttgir -o - | FileCheck %s --check-prefix=SIXTEEN
// EIGHT: "ttg.num-warps" = 8
// FOUR: "ttg.num-warps" = 4
// SIXTEEN: "ttg.num-warps" = 16

tt.func public @gemm(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = tt.expand_dims %r128 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %ka = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %kb = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %nn = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %w = arith.constant dense<256> : tensor<128x1xi32>
  %wb = arith.constant dense<256> : tensor<64x1xi32>
  %rows = arith.muli %m, %w : tensor<128x1xi32>
  %rowsb = arith.muli %kb, %wb : tensor<64x1xi32>
  %ra = tt.broadcast %rows : tensor<128x1xi32> -> tensor<128x64xi32>
  %ca = tt.broadcast %ka : tensor<1x64xi32> -> tensor<128x64xi32>
  %rb = tt.broadcast %rowsb : tensor<64x1xi32> -> tensor<64x256xi32>
  %cb = tt.broadcast %nn : tensor<1x256xi32> -> tensor<64x256xi32>
  %rc = tt.broadcast %rows : tensor<128x1xi32> -> tensor<128x256xi32>
  %cc = tt.broadcast %nn : tensor<1x256xi32> -> tensor<128x256xi32>
  %oa = arith.addi %ra, %ca : tensor<128x64xi32>
  %ob = arith.addi %rb, %cb : tensor<64x256xi32>
  %oc = arith.addi %rc, %cc : tensor<128x256xi32>
  %sb = tt.splat %b : !tt.ptr<f16> -> tensor<64x256x!tt.ptr<f16>>
  %pb = tt.addptr %sb, %ob : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
  %sum = scf.for %k = %i0 to %n step %i64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %ak = tt.addptr %a, %k : !tt.ptr<f16>, i32
    %sa = tt.splat %ak : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
    %pa = tt.addptr %sa, %oa : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %x = tt.load %pa : tensor<128x64x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<64x256x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<128x64xf16> * tensor<64x256xf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %sc = tt.splat %c : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
  %pc = tt.addptr %sc, %oc : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
  tt.store %pc, %sum : tensor<128x256x!tt.ptr<f32>>
  tt.return
}
