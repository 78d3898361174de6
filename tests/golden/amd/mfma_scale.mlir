// MFMA with scales on gfx950: the formats are immediates (none is e4m3, 1 e5m2, 4 e2m1), of the instruction's A, which is
// the tensor's B operand (cbsz), and of its B. Scales are bytes of registers; a missing one is 127, that is 1.
// RUN: tessera compile %s --target gfx950 --num-warps 1 --kernel mixed --emit amdgcn -o - | FileCheck %s

// CHECK-LABEL: mixed:
// CHECK: v_mfma_scale_f32_32x32x64_f8f6f4 {{.*}} cbsz:4 blgp:1
// CHECK-NOT: v_mfma
// CHECK: s_endpgm
tt.func public @mixed(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %t: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %xr = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %xc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xr1 = tt.expand_dims %xr {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %xn = arith.constant dense<64> : tensor<32x1xi32>
  %xr2 = arith.muli %xr1, %xn : tensor<32x1xi32>
  %xr3 = tt.broadcast %xr2 : tensor<32x1xi32> -> tensor<32x64xi32>
  %xc1 = tt.expand_dims %xc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %xc2 = tt.broadcast %xc1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %xi = arith.addi %xr3, %xc2 : tensor<32x64xi32>
  %xs = tt.splat %a : !tt.ptr<i8> -> tensor<32x64x!tt.ptr<i8>>
  %xp = tt.addptr %xs, %xi : tensor<32x64x!tt.ptr<i8>>, tensor<32x64xi32>
  %x = tt.load %xp : tensor<32x64x!tt.ptr<i8>>
  %yr = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %yc = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %yr1 = tt.expand_dims %yr {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %yn = arith.constant dense<32> : tensor<32x1xi32>
  %yr2 = arith.muli %yr1, %yn : tensor<32x1xi32>
  %yr3 = tt.broadcast %yr2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %yc1 = tt.expand_dims %yc {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %yc2 = tt.broadcast %yc1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %yi = arith.addi %yr3, %yc2 : tensor<32x32xi32>
  %ys = tt.splat %b : !tt.ptr<i8> -> tensor<32x32x!tt.ptr<i8>>
  %yp = tt.addptr %ys, %yi : tensor<32x32x!tt.ptr<i8>>, tensor<32x32xi32>
  %y = tt.load %yp : tensor<32x32x!tt.ptr<i8>>
  %ur = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %uc = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ur1 = tt.expand_dims %ur {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %un = arith.constant dense<2> : tensor<32x1xi32>
  %ur2 = arith.muli %ur1, %un : tensor<32x1xi32>
  %ur3 = tt.broadcast %ur2 : tensor<32x1xi32> -> tensor<32x2xi32>
  %uc1 = tt.expand_dims %uc {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %uc2 = tt.broadcast %uc1 : tensor<1x2xi32> -> tensor<32x2xi32>
  %ui = arith.addi %ur3, %uc2 : tensor<32x2xi32>
  %us = tt.splat %s : !tt.ptr<i8> -> tensor<32x2x!tt.ptr<i8>>
  %up = tt.addptr %us, %ui : tensor<32x2x!tt.ptr<i8>>, tensor<32x2xi32>
  %u = tt.load %up : tensor<32x2x!tt.ptr<i8>>
  %vr = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %vc = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %vr1 = tt.expand_dims %vr {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %vn = arith.constant dense<2> : tensor<32x1xi32>
  %vr2 = arith.muli %vr1, %vn : tensor<32x1xi32>
  %vr3 = tt.broadcast %vr2 : tensor<32x1xi32> -> tensor<32x2xi32>
  %vc1 = tt.expand_dims %vc {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %vc2 = tt.broadcast %vc1 : tensor<1x2xi32> -> tensor<32x2xi32>
  %vi = arith.addi %vr3, %vc2 : tensor<32x2xi32>
  %vs = tt.splat %t : !tt.ptr<i8> -> tensor<32x2x!tt.ptr<i8>>
  %vp = tt.addptr %vs, %vi : tensor<32x2x!tt.ptr<i8>>, tensor<32x2xi32>
  %v = tt.load %vp : tensor<32x2x!tt.ptr<i8>>
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot_scaled %x scale %u, %y scale %v, %z lhs = e5m2 rhs = e2m1 {fastMath = false} : tensor<32x64xi8>, tensor<32x2xi8> * tensor<32x32xi8>, tensor<32x2xi8> -> tensor<32x32xf32>
  %wr = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %wc = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %wr1 = tt.expand_dims %wr {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wn = arith.constant dense<32> : tensor<32x1xi32>
  %wr2 = arith.muli %wr1, %wn : tensor<32x1xi32>
  %wr3 = tt.broadcast %wr2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %wc1 = tt.expand_dims %wc {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %wc2 = tt.broadcast %wc1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %wi = arith.addi %wr3, %wc2 : tensor<32x32xi32>
  %ws = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %wp = tt.addptr %ws, %wi : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %wp, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// 16 rows; K is two instructions' of 4 bits.
// CHECK-LABEL: left_alone:
// CHECK: v_mov_b32_e32 [[ONE:v[0-9]+]], 0x7f
// CHECK: v_mfma_scale_f32_16x16x128_f8f6f4 {{.*}}, [[ONE]], v{{[0-9]+}} {{.*}}cbsz:4 blgp:4
// CHECK: v_mfma_scale_f32_16x16x128_f8f6f4 {{.*}}, [[ONE]], v{{[0-9]+}} {{.*}}cbsz:4 blgp:4
// CHECK-NOT: v_mfma
// CHECK: s_endpgm
tt.func public @left_alone(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %t: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %xr = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %xc = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xr1 = tt.expand_dims %xr {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %xn = arith.constant dense<128> : tensor<16x1xi32>
  %xr2 = arith.muli %xr1, %xn : tensor<16x1xi32>
  %xr3 = tt.broadcast %xr2 : tensor<16x1xi32> -> tensor<16x128xi32>
  %xc1 = tt.expand_dims %xc {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %xc2 = tt.broadcast %xc1 : tensor<1x128xi32> -> tensor<16x128xi32>
  %xi = arith.addi %xr3, %xc2 : tensor<16x128xi32>
  %xs = tt.splat %a : !tt.ptr<i8> -> tensor<16x128x!tt.ptr<i8>>
  %xp = tt.addptr %xs, %xi : tensor<16x128x!tt.ptr<i8>>, tensor<16x128xi32>
  %x = tt.load %xp : tensor<16x128x!tt.ptr<i8>>
  %yr = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %yc = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %yr1 = tt.expand_dims %yr {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %yn = arith.constant dense<16> : tensor<128x1xi32>
  %yr2 = arith.muli %yr1, %yn : tensor<128x1xi32>
  %yr3 = tt.broadcast %yr2 : tensor<128x1xi32> -> tensor<128x16xi32>
  %yc1 = tt.expand_dims %yc {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %yc2 = tt.broadcast %yc1 : tensor<1x16xi32> -> tensor<128x16xi32>
  %yi = arith.addi %yr3, %yc2 : tensor<128x16xi32>
  %ys = tt.splat %b : !tt.ptr<i8> -> tensor<128x16x!tt.ptr<i8>>
  %yp = tt.addptr %ys, %yi : tensor<128x16x!tt.ptr<i8>>, tensor<128x16xi32>
  %y = tt.load %yp : tensor<128x16x!tt.ptr<i8>>
  %ur = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %uc = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ur1 = tt.expand_dims %ur {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %un = arith.constant dense<8> : tensor<16x1xi32>
  %ur2 = arith.muli %ur1, %un : tensor<16x1xi32>
  %ur3 = tt.broadcast %ur2 : tensor<16x1xi32> -> tensor<16x8xi32>
  %uc1 = tt.expand_dims %uc {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %uc2 = tt.broadcast %uc1 : tensor<1x8xi32> -> tensor<16x8xi32>
  %ui = arith.addi %ur3, %uc2 : tensor<16x8xi32>
  %us = tt.splat %s : !tt.ptr<i8> -> tensor<16x8x!tt.ptr<i8>>
  %up = tt.addptr %us, %ui : tensor<16x8x!tt.ptr<i8>>, tensor<16x8xi32>
  %u = tt.load %up : tensor<16x8x!tt.ptr<i8>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot_scaled %x scale %u, %y, %z lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x128xi8>, tensor<16x8xi8> * tensor<128x16xi8> -> tensor<16x16xf32>
  %wr = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %wc = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %wr1 = tt.expand_dims %wr {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %wn = arith.constant dense<16> : tensor<16x1xi32>
  %wr2 = arith.muli %wr1, %wn : tensor<16x1xi32>
  %wr3 = tt.broadcast %wr2 : tensor<16x1xi32> -> tensor<16x16xi32>
  %wc1 = tt.expand_dims %wc {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %wc2 = tt.broadcast %wc1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %wi = arith.addi %wr3, %wc2 : tensor<16x16xi32>
  %ws = tt.splat %o : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %wp = tt.addptr %ws, %wi : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %wp, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
