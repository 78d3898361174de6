// WMMA needs all lanes: it stays before the branch that masks lanes off, although only the store in that branch uses
// its result.
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn -O1 | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s
// CHECK-LABEL: {{^}}k:
// CHECK-NOT: exec
// CHECK: v_wmma_f32_16x16x16_f16
// CHECK-NOT: v_wmma
// CHECK: exec
// CHECK: global_store
module {
  tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %z = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
    %k1 = arith.constant dense<16> : tensor<1x1xi32>
    %n1 = arith.constant dense<1> : tensor<16x1xi32>
    %n2 = arith.constant dense<1> : tensor<1x1xi32>
    %rm = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>
    %rn = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>
    %rk = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<1xi32> -> tensor<1x1xi32>
    %kr = tt.expand_dims %rk {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %kc = tt.expand_dims %rk {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %n = tt.expand_dims %rn {axis = 0 : i32} : tensor<1xi32> -> tensor<1x1xi32>
    %am = arith.muli %m, %k1 : tensor<1x1xi32>
    %ab = tt.broadcast %am : tensor<1x1xi32> -> tensor<1x16xi32>
    %ac = tt.broadcast %kr : tensor<1x16xi32> -> tensor<1x16xi32>
    %ai = arith.addi %ab, %ac : tensor<1x16xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<1x16x!tt.ptr<f16>>
    %ap = tt.addptr %as, %ai : tensor<1x16x!tt.ptr<f16>>, tensor<1x16xi32>
    %x = tt.load %ap : tensor<1x16x!tt.ptr<f16>>
    %bm = arith.muli %kc, %n1 : tensor<16x1xi32>
    %bb = tt.broadcast %bm : tensor<16x1xi32> -> tensor<16x1xi32>
    %bc = tt.broadcast %n : tensor<1x1xi32> -> tensor<16x1xi32>
    %bi = arith.addi %bb, %bc : tensor<16x1xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %bi : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %y = tt.load %bp : tensor<16x1x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %z : tensor<1x16xf16> * tensor<16x1xf16> -> tensor<1x1xf32>
    %cm = arith.muli %m, %n2 : tensor<1x1xi32>
    %cb = tt.broadcast %cm : tensor<1x1xi32> -> tensor<1x1xi32>
    %cc = tt.broadcast %n : tensor<1x1xi32> -> tensor<1x1xi32>
    %ci = arith.addi %cb, %cc : tensor<1x1xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %ci : tensor<1x1x!tt.ptr<f32>>, tensor<1x1xi32>
    tt.store %cp, %d : tensor<1x1x!tt.ptr<f32>>
    tt.return
  }
}
