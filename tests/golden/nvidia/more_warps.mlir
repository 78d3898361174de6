// More warps than requested: the accumulator takes 256 registers of a thread in 4 warps, and 128 in 8.
// RUN: tessera compile %s --kernel gemm --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %s --kernel gemm --target sm_80 --emit ttgir -o - | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %s --kernel gemm --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: tessera compile %s --kernel gemm --target sm_90a --emit ttgir -o - --remarks=MoreWarps 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %s --kernel gemm --target sm_90a --emit ttgir -o - --print-ir-after=coalesce 2>&1 | FileCheck %s --check-prefix=ONCE
// EIGHT: "ttg.num-warps" = 8
// PTX: .reqntid 256
// REMARK: remark: 'gemm' has 8 warps instead of 4: tensors would hold 256 registers of a thread instead of 128, and 255 exist [more-warps:MoreWarps]
// REMARK: "ttg.num-warps" = 8
// What users see of the passes is a run with the warps that are taken.
// ONCE: IR Dump After tritongpu-coalesce
// ONCE: "ttg.num-warps" = 8
// ONCE-NOT: IR Dump After tritongpu-coalesce
//
// Not where the option, inline assembly or the target (its estimate predicts no spills) fixes the number, nor where
// twice as many would be too many threads.
// RUN: tessera compile %s --kernel gemm --target sm_90a --exact-num-warps --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel assembly --target sm_90a --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel gemm --target gfx942 --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel gemm --target sm_90a --num-warps 32 --emit ttgir -o - | FileCheck %s --check-prefix=MOST
// FOUR: "ttg.num-warps" = 4
// MOST: "ttg.num-warps" = 32
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

tt.func public @assembly(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
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
    %y = tt.elementwise_inline_asm "add.f32 $0, $1, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : tensor<16384xf32> -> tensor<16384xf32>
    %d = arith.addf %acc, %y : tensor<16384xf32>
    scf.yield %d : tensor<16384xf32>
  }
  tt.store %po, %sum : tensor<16384x!tt.ptr<f32>>
  tt.return
}
