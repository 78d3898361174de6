// Offsets that are a uniform number apart from another one, which itself is the sum of a loop-carried value and one:
// each sum is behind the one that it is made of.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 --emit llir -o - | FileCheck %s
// CHECK-LABEL: @sum_of_sum(
// CHECK: {{^}}for{{[0-9]+}}:
// CHECK: add i32 %[[O:offset[0-9]+]], %
// CHECK-NEXT: %[[SUM:.*]] = add i32 %[[O]], %
// CHECK-NEXT: add i32 %[[SUM]], %
tt.func @sum_of_sum(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %start: i32, %st: i32, %sr: i32) {
  %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf16>
  %cst_0 = arith.constant dense<32> : tensor<32x1xi32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_2 = arith.constant dense<0> : tensor<32xi32>
  %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ok = tt.splat %n : i32 -> tensor<32xi32>
  %A = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %A_3 = tt.splat %sr : i32 -> tensor<32x1xi32>
  %A_4 = arith.muli %A, %A_3 : tensor<32x1xi32>
  %A_5 = tt.splat %x : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
  %A_6 = tt.addptr %A_5, %A_4 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
  %A_7 = tt.broadcast %A_6 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
  %B = tt.splat %w : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
  %B_8 = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %B_9 = tt.broadcast %B_8 : tensor<1x32xi32> -> tensor<32x32xi32>
  %acc = scf.for %i = %start to %n step %st iter_args(%acc_10 = %cst_1) -> (tensor<32x32xf32>)  : i32 {
    %kk = tt.splat %i : i32 -> tensor<32xi32>
    %kk_11 = arith.addi %kk, %m : tensor<32xi32>
    %ok_12 = arith.cmpi sge, %kk_11, %cst_2 : tensor<32xi32>
    %ok_13 = arith.cmpi slt, %kk_11, %ok : tensor<32xi32>
    %ok_14 = arith.andi %ok_12, %ok_13 : tensor<32xi1>
    %A_15 = tt.expand_dims %ok_14 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
    %A_16 = tt.expand_dims %kk_11 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %A_17 = tt.broadcast %A_16 : tensor<1x32xi32> -> tensor<32x32xi32>
    %A_18 = tt.addptr %A_7, %A_17 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %A_19 = tt.broadcast %A_15 : tensor<1x32xi1> -> tensor<32x32xi1>
    %A_20 = tt.load %A_18, %A_19, %cst : tensor<32x32x!tt.ptr<f16>>
    %B_21 = tt.expand_dims %ok_14 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
    %B_22 = tt.expand_dims %kk_11 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %B_23 = arith.muli %B_22, %cst_0 : tensor<32x1xi32>
    %B_24 = tt.addptr %B, %B_23 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %B_25 = tt.broadcast %B_24 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %B_26 = tt.addptr %B_25, %B_9 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %B_27 = tt.broadcast %B_21 : tensor<32x1xi1> -> tensor<32x32xi1>
    %B_28 = tt.load %B_26, %B_27, %cst : tensor<32x32x!tt.ptr<f16>>
    %acc_29 = tt.dot %A_20, %B_28, %acc_10, inputPrecision = tf32 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %acc_29 : tensor<32x32xf32>
  }
  %0 = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %1 = arith.muli %0, %cst_0 : tensor<32x1xi32>
  %2 = tt.splat %o : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
  %3 = tt.addptr %2, %1 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
  %4 = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %5 = tt.broadcast %3 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x32x!tt.ptr<f32>>
  %6 = tt.broadcast %4 : tensor<1x32xi32> -> tensor<32x32xi32>
  %7 = tt.addptr %5, %6 : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %7, %acc : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
