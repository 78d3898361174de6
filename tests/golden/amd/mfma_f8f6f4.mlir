// 8-bit floats on gfx950: one unscaled instruction for all formats where K fills it; the formats are immediates (1 is
// E5M2). The accumulator is transposed, so the instruction's A is the tensor's B operand.
// RUN: tessera compile %s --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: mixed:
// CHECK: v_mfma_f32_32x32x64_f8f6f4 {{.*}} cbsz:1
// CHECK-NOT: v_mfma_scale
// CHECK-NOT: v_mfma_f32_32x32x16
// CHECK: s_endpgm
tt.func public @mixed(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<32x1xi32>
  %c32 = arith.constant dense<32> : tensor<64x1xi32>
  %c32r = arith.constant dense<32> : tensor<32x1xi32>
  %ra = arith.muli %r1, %c64 : tensor<32x1xi32>
  %raa = tt.broadcast %ra : tensor<32x1xi32> -> tensor<32x64xi32>
  %kaa = tt.broadcast %k0 : tensor<1x64xi32> -> tensor<32x64xi32>
  %ia = arith.addi %raa, %kaa : tensor<32x64xi32>
  %kb = arith.muli %k1, %c32 : tensor<64x1xi32>
  %kbb = tt.broadcast %kb : tensor<64x1xi32> -> tensor<64x32xi32>
  %rbb = tt.broadcast %r0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %ib = arith.addi %kbb, %rbb : tensor<64x32xi32>
  %ro = arith.muli %r1, %c32r : tensor<32x1xi32>
  %roo = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
  %coo = tt.broadcast %r0 : tensor<1x32xi32> -> tensor<32x32xi32>
  %io = arith.addi %roo, %coo : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<32x64x!tt.ptr<f8E4M3FN>>
  %pa = tt.addptr %as, %ia : tensor<32x64x!tt.ptr<f8E4M3FN>>, tensor<32x64xi32>
  %x = tt.load %pa : tensor<32x64x!tt.ptr<f8E4M3FN>>
  %bs = tt.splat %b : !tt.ptr<f8E5M2> -> tensor<64x32x!tt.ptr<f8E5M2>>
  %pb = tt.addptr %bs, %ib : tensor<64x32x!tt.ptr<f8E5M2>>, tensor<64x32xi32>
  %y = tt.load %pb : tensor<64x32x!tt.ptr<f8E5M2>>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot %x, %y, %zero : tensor<32x64xf8E4M3FN> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %po = tt.addptr %os, %io : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %po, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
