// 16-bit floats that are added, subtracted or multiplied in f32 and rounded back: computed in pairs of 16 bits, by an fma
// which ptxas does not contract with another operation; others stay in f32.
// RUN: tessera compile %s --num-warps 1 --kernel rounded --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=ROUNDED
// RUN: tessera compile %s --num-warps 1 --kernel rounded --target sm_80 --emit ptx -o - | FileCheck %s --check-prefix=ROUNDED
// RUN: tessera compile %s --num-warps 1 --kernel selected --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=SELECTED
// RUN: tessera compile %s --num-warps 1 --kernel wide --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=WIDE

// x + y, then x times that (rounded in between), minus y, times 0.5.
// ROUNDED-LABEL: .entry rounded(
// ROUNDED: mov.b32 %[[ONE:r[0-9]+]], 1006648320
// ROUNDED: fma.rn.f16x2 %[[SUM:r[0-9]+]], %[[X:r[0-9]+]], %[[ONE]], %[[Y:r[0-9]+]]
// ROUNDED: mov.b32 %[[NO_ADDEND:r[0-9]+]], -2147450880
// ROUNDED: fma.rn.f16x2 %[[PRODUCT:r[0-9]+]], %[[X]], %[[SUM]], %[[NO_ADDEND]]
// ROUNDED: mov.b32 %[[MINUS:r[0-9]+]], -1140802560
// ROUNDED: fma.rn.f16x2 %[[DIFFERENCE:r[0-9]+]], %[[Y]], %[[MINUS]], %[[PRODUCT]]
// ROUNDED: mov.b32 %[[HALF:r[0-9]+]], 939538432
// ROUNDED: fma.rn.f16x2 %{{r[0-9]+}}, %[[DIFFERENCE]], %[[HALF]], %[[NO_ADDEND]]
// ROUNDED-NOT: cvt.
// ROUNDED: st.global

// One condition for both halves.
// SELECTED-LABEL: .entry selected(
// SELECTED: fma.rn.f16x2 %[[SUM:r[0-9]+]],
// SELECTED: selp.b32 %[[R:r[0-9]+]], %[[SUM]], %{{r[0-9]+}}, %{{p[0-9]+}}
// SELECTED-NOT: cvt.
// SELECTED: st.global.b32 [%{{rd[0-9]+}}], %[[R]];

// A condition for each element, a constant that f16 does not have, an operand of f32, a sum that is also needed in f32,
// x * x that is not rounded before the addition, and the extension of another type.
// WIDE-LABEL: .entry wide(
// WIDE-NOT: fma.rn.f16x2
// WIDE: ret;
tt.func public @selected(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: i1, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %cs = tt.splat %c : i1 -> tensor<64xi1>
  %xb = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %xp = tt.addptr %xb, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %yb = tt.splat %y : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %yp = tt.addptr %yb, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %xn = tt.load %xp : tensor<64x!tt.ptr<f16>>
  %yn = tt.load %yp : tensor<64x!tt.ptr<f16>>
  %xw = arith.extf %xn : tensor<64xf16> to tensor<64xf32>
  %yw = arith.extf %yn : tensor<64xf16> to tensor<64xf32>
  %s = arith.addf %xw, %yw : tensor<64xf32>
  %v = arith.select %cs, %s, %xw : tensor<64xi1>, tensor<64xf32>
  %n = arith.truncf %v : tensor<64xf32> to tensor<64xf16>
  %ob = tt.splat %o : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %op = tt.addptr %ob, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tt.store %op, %n : tensor<64x!tt.ptr<f16>>
  tt.return
}

tt.func public @rounded(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
  %xb = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %xp = tt.addptr %xb, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %yb = tt.splat %y : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %yp = tt.addptr %yb, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %xn = tt.load %xp : tensor<64x!tt.ptr<f16>>
  %yn = tt.load %yp : tensor<64x!tt.ptr<f16>>
  %xw = arith.extf %xn : tensor<64xf16> to tensor<64xf32>
  %yw = arith.extf %yn : tensor<64xf16> to tensor<64xf32>
  %s = arith.addf %xw, %yw : tensor<64xf32>
  %sn = arith.truncf %s : tensor<64xf32> to tensor<64xf16>
  %sw = arith.extf %sn : tensor<64xf16> to tensor<64xf32>
  %p = arith.mulf %xw, %sw : tensor<64xf32>
  %pn = arith.truncf %p : tensor<64xf32> to tensor<64xf16>
  %pw = arith.extf %pn : tensor<64xf16> to tensor<64xf32>
  %d = arith.subf %pw, %yw : tensor<64xf32>
  %dn = arith.truncf %d : tensor<64xf32> to tensor<64xf16>
  %dw = arith.extf %dn : tensor<64xf16> to tensor<64xf32>
  %h = arith.mulf %dw, %half : tensor<64xf32>
  %hn = arith.truncf %h : tensor<64xf32> to tensor<64xf16>
  %ob = tt.splat %o : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %op = tt.addptr %ob, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tt.store %op, %hn : tensor<64x!tt.ptr<f16>>
  tt.return
}

tt.func public @wide(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %f: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %tenth = arith.constant dense<1.000000e-01> : tensor<64xf32>
  %xb = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %xp = tt.addptr %xb, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %bb = tt.splat %b : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %bp = tt.addptr %bb, %r : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  %fb = tt.splat %f : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %fp = tt.addptr %fb, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %xn = tt.load %xp : tensor<64x!tt.ptr<f16>>
  %bn = tt.load %bp : tensor<64x!tt.ptr<bf16>>
  %fw = tt.load %fp : tensor<64x!tt.ptr<f32>>
  %xw = arith.extf %xn : tensor<64xf16> to tensor<64xf32>
  %bw = arith.extf %bn : tensor<64xbf16> to tensor<64xf32>
  %v0 = arith.mulf %xw, %tenth : tensor<64xf32>
  %v1 = arith.mulf %xw, %fw : tensor<64xf32>
  %v2 = arith.addf %xw, %xw : tensor<64xf32>
  tt.store %fp, %v2 : tensor<64x!tt.ptr<f32>>
  %p = arith.mulf %xw, %xw : tensor<64xf32>
  %v3 = arith.addf %p, %xw : tensor<64xf32>
  %v4 = arith.mulf %xw, %bw : tensor<64xf32>
  %ob = tt.splat %o : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %o0 = tt.addptr %ob, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %step = arith.constant dense<64> : tensor<64xi32>
  %n0 = arith.truncf %v0 : tensor<64xf32> to tensor<64xf16>
  %n1 = arith.truncf %v1 : tensor<64xf32> to tensor<64xf16>
  %n2 = arith.truncf %v2 : tensor<64xf32> to tensor<64xf16>
  %n3 = arith.truncf %v3 : tensor<64xf32> to tensor<64xf16>
  %n4 = arith.truncf %v4 : tensor<64xf32> to tensor<64xf16>
  %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
  %halves = arith.mulf %xw, %half : tensor<64xf32>
  %bound = arith.constant dense<33> : tensor<64xi32>
  %each = arith.cmpi slt, %r, %bound : tensor<64xi32>
  %v5 = arith.select %each, %xw, %halves : tensor<64xi1>, tensor<64xf32>
  %n5 = arith.truncf %v5 : tensor<64xf32> to tensor<64xf16>
  %o1 = tt.addptr %o0, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %o2 = tt.addptr %o1, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %o3 = tt.addptr %o2, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %o4 = tt.addptr %o3, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %o5 = tt.addptr %o4, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tt.store %o5, %n5 : tensor<64x!tt.ptr<f16>>
  tt.store %o0, %n0 : tensor<64x!tt.ptr<f16>>
  tt.store %o1, %n1 : tensor<64x!tt.ptr<f16>>
  tt.store %o2, %n2 : tensor<64x!tt.ptr<f16>>
  tt.store %o3, %n3 : tensor<64x!tt.ptr<f16>>
  tt.store %o4, %n4 : tensor<64x!tt.ptr<f16>>
  tt.return
}
