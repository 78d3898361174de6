// RDNA: LDS of 24 KiB admits one wave of a block of one on a SIMD, so that LLVM need not save registers for 16 of them. It
// saves them for 8 (leastWavesByShared), which have 169 registers and more. Not without dots, and what users ask for stays.
// RUN: tessera compile %s --kernel dot --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel dot --target gfx1100 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel dot --target gfx1201 --num-warps 1 --waves-per-eu 16 --emit amdgcn -o - | FileCheck %s --check-prefix=USER
// RUN: tessera compile %s --kernel transposed --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=USER
// CHECK: .amdhsa_next_free_vgpr {{(169|1[7-9][0-9]|2[0-9][0-9])}}
// USER: .amdhsa_next_free_vgpr {{[0-9][0-9]?$}}
tt.func public @dot(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %k = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %m = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %n = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ke = tt.expand_dims %k {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %kr = tt.expand_dims %k {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %ne = tt.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %c256 = arith.constant dense<256> : tensor<16x1xi32>
  %c32 = arith.constant dense<32> : tensor<256x1xi32>
  %d32 = arith.constant dense<32> : tensor<16x1xi32>
  %mr = arith.muli %me, %c256 : tensor<16x1xi32>
  %mb = tt.broadcast %mr : tensor<16x1xi32> -> tensor<16x256xi32>
  %kb = tt.broadcast %ke : tensor<1x256xi32> -> tensor<16x256xi32>
  %ai = arith.addi %mb, %kb : tensor<16x256xi32>
  %as = tt.splat %a : !tt.ptr<bf16> -> tensor<16x256x!tt.ptr<bf16>>
  %ap = tt.addptr %as, %ai : tensor<16x256x!tt.ptr<bf16>>, tensor<16x256xi32>
  %x = tt.load %ap : tensor<16x256x!tt.ptr<bf16>>
  %kk = arith.muli %kr, %c32 : tensor<256x1xi32>
  %kc = tt.broadcast %kk : tensor<256x1xi32> -> tensor<256x32xi32>
  %nb = tt.broadcast %ne : tensor<1x32xi32> -> tensor<256x32xi32>
  %bi = arith.addi %kc, %nb : tensor<256x32xi32>
  %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<256x32x!tt.ptr<bf16>>
  %bp = tt.addptr %bs, %bi : tensor<256x32x!tt.ptr<bf16>>, tensor<256x32xi32>
  %y = tt.load %bp : tensor<256x32x!tt.ptr<bf16>>
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %d = tt.dot %x, %y, %z : tensor<16x256xbf16> * tensor<256x32xbf16> -> tensor<16x32xf32>
  %mo = arith.muli %me, %d32 : tensor<16x1xi32>
  %mc = tt.broadcast %mo : tensor<16x1xi32> -> tensor<16x32xi32>
  %nc = tt.broadcast %ne : tensor<1x32xi32> -> tensor<16x32xi32>
  %ci = arith.addi %mc, %nc : tensor<16x32xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %ci : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  tt.store %cp, %d : tensor<16x32x!tt.ptr<f32>>
  tt.return
}
tt.func public @transposed(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %ne = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %c32 = arith.constant dense<32> : tensor<32x1xi32>
  %mr = arith.muli %me, %c32 : tensor<32x1xi32>
  %mb = tt.broadcast %mr : tensor<32x1xi32> -> tensor<32x32xi32>
  %nb = tt.broadcast %ne : tensor<1x32xi32> -> tensor<32x32xi32>
  %i = arith.addi %mb, %nb : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %ap = tt.addptr %as, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %x = tt.load %ap : tensor<32x32x!tt.ptr<f32>>
  %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %cp, %y : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
