// tritongpu-pipeline: a matmul of 16 rows, whose dot is transposed for wgmma, does nothing but accumulate. It keeps the
// four stages that it requests, although three blocks would fit with two: no thread computes between dots.
// RUN: tessera compile %s --target sm_90a --num-warps 4 --num-stages 4 --emit ttgir -o /dev/null --remarks 2>&1 | FileCheck %s
// CHECK: 4 stages take 147456 bytes of shared memory
module {
  tt.func public @gemm(%a: !tt.tensordesc<tensor<16x128xf16>>, %a_0: i32, %a_1: i32, %a_2: i64, %a_3: i64, %b: !tt.tensordesc<tensor<128x128xf16>>, %b_4: i32, %b_5: i32, %b_6: i64, %b_7: i64, %c: !tt.tensordesc<tensor<16x128xf16>>, %c_8: i32, %c_9: i32, %c_10: i64, %c_11: i64, %bias: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x128xf32>
    %c127_i32 = arith.constant 127 : i32
    %c15_i32 = arith.constant 15 : i32
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %pid = tt.get_program_id x : i32
    %0 = arith.addi %M, %c15_i32 : i32
    %1 = arith.divsi %0, %c16_i32 : i32
    %2 = arith.addi %N, %c127_i32 : i32
    %3 = arith.divsi %2, %c128_i32 : i32
    %group = arith.muli %3, %c8_i32 : i32
    %group_12 = arith.divsi %pid, %group : i32
    %size = arith.muli %group_12, %c8_i32 : i32
    %size_13 = arith.subi %1, %size : i32
    %size_14 = arith.minsi %size_13, %c8_i32 : i32
    %pm = arith.remsi %pid, %group : i32
    %pm_15 = arith.remsi %pm, %size_14 : i32
    %pm_16 = arith.addi %size, %pm_15 : i32
    %pm_17 = arith.muli %pm_16, %c16_i32 : i32
    %pn = arith.divsi %pm, %size_14 : i32
    %pn_18 = arith.muli %pn, %c128_i32 : i32
    %acc_19 = scf.for %k = %c0_i32 to %K step %c128_i32 iter_args(%acc_20 = %acc) -> (tensor<16x128xf32>)  : i32 {
      %x = tt.descriptor_load %a[%pm_17, %k] : !tt.tensordesc<tensor<16x128xf16>> -> tensor<16x128xf16>
      %y = tt.descriptor_load %b[%pn_18, %k] : !tt.tensordesc<tensor<128x128xf16>> -> tensor<128x128xf16>
      %y_21 = tt.trans %y {order = array<i32: 1, 0>} : tensor<128x128xf16> -> tensor<128x128xf16>
      %acc_22 = tt.dot %x, %y_21, %acc_20, inputPrecision = tf32 : tensor<16x128xf16> * tensor<128x128xf16> -> tensor<16x128xf32>
      scf.yield %acc_22 : tensor<16x128xf32>
    }
    %4 = arith.truncf %acc_19 : tensor<16x128xf32> to tensor<16x128xf16>
    tt.descriptor_store %c[%pm_17, %pn_18], %4 : !tt.tensordesc<tensor<16x128xf16>>, tensor<16x128xf16>
    tt.return
  }
}
