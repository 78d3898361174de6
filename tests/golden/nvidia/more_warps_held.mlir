// Kernels that hold many registers and get more warps, or not, by where they hold them.
// EIGHT: "ttg.num-warps" = 8
// FOUR: "ttg.num-warps" = 4
// ONE: "ttg.num-warps" = 1 :
//
// No more warps without a loop or a dot, where elements are computed one by one, nor if eight times as many warps have
// too few registers, too.
// RUN: tessera compile %s --kernel straight --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel too_large --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel too_large --num-warps 1 --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=ONE
// RUN: tessera compile %s --kernel loop --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=EIGHT
// Four warps would hold 256 registers in each thread, eight times one warp hold 128.
// RUN: tessera compile %s --kernel loop --num-warps 1 --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=EIGHT
//
// Outside of loops a little may be spilled, once.
// RUN: tessera compile %s --kernel once --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel once --num-warps 2 --target sm_80 --emit ttgir -o - | FileCheck %s --check-prefix=FOUR

tt.func public @once(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
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
  %sa = tt.splat %a : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pa = tt.addptr %sa, %oa : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %pa : tensor<128x64x!tt.ptr<f16>>
  %y = tt.load %pb : tensor<64x256x!tt.ptr<f16>>
  %sum = tt.dot %x, %y, %zero : tensor<128x64xf16> * tensor<64x256xf16> -> tensor<128x256xf32>
  %sc = tt.splat %c : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
  %pc = tt.addptr %sc, %oc : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
  tt.store %pc, %sum : tensor<128x256x!tt.ptr<f32>>
  tt.return
}

tt.func public @loop(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<16384xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %r = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
  %o = tt.splat %q : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
  %ps = tt.addptr %s, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
  %po = tt.addptr %o, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
  %sum = scf.for %k = %i0 to %n step %i1 iter_args(%acc = %zero) -> (tensor<16384xf32>) : i32 {
    %x = tt.load %ps : tensor<16384x!tt.ptr<f32>>
    %d = arith.addf %acc, %x : tensor<16384xf32>
    scf.yield %d : tensor<16384xf32>
  }
  tt.store %po, %sum : tensor<16384x!tt.ptr<f32>>
  tt.return
}

tt.func public @too_large(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<131072xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %r = tt.make_range {end = 131072 : i32, start = 0 : i32} : tensor<131072xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<131072x!tt.ptr<f32>>
  %o = tt.splat %q : !tt.ptr<f32> -> tensor<131072x!tt.ptr<f32>>
  %ps = tt.addptr %s, %r : tensor<131072x!tt.ptr<f32>>, tensor<131072xi32>
  %po = tt.addptr %o, %r : tensor<131072x!tt.ptr<f32>>, tensor<131072xi32>
  %sum = scf.for %k = %i0 to %n step %i1 iter_args(%acc = %zero) -> (tensor<131072xf32>) : i32 {
    %x = tt.load %ps : tensor<131072x!tt.ptr<f32>>
    %d = arith.addf %acc, %x : tensor<131072xf32>
    scf.yield %d : tensor<131072xf32>
  }
  tt.store %po, %sum : tensor<131072x!tt.ptr<f32>>
  tt.return
}

tt.func public @straight(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %o = tt.splat %q : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %ps = tt.addptr %s, %r : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %po = tt.addptr %o, %r : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %x = tt.load %ps : tensor<32768x!tt.ptr<f32>>
  %d = arith.addf %x, %x : tensor<32768xf32>
  tt.store %po, %d : tensor<32768x!tt.ptr<f32>>
  tt.return
}
