// tritongpu-pipeline: stages for which the buffers fit, with what their alignment takes: 5 need 231,936 bytes of 232,448,
// but two buffers of 1,280 bytes begin at multiples of 1,024.
// RUN: tessera compile %s --target sm_90a --num-warps 8 --exact-num-warps --num-stages 5 --emit ptx -o %t
// RUN: tessera compile %s --target sm_90a --num-warps 8 --exact-num-warps --num-stages 5 --emit ttgir -o - | FileCheck %s
// CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<4x64x128xf16
// CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<4x64xf32
module {
  tt.func public @gradients(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %DO: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %DK: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %DV: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %L: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %cst_1 = arith.constant dense<128> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<128> : tensor<128x1xi32>
    %c128_i32 = arith.constant 128 : i32
    %n = tt.get_program_id x : i32
    %n_3 = arith.muli %n, %c128_i32 : i32
    %n_4 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %n_5 = tt.splat %n_3 : i32 -> tensor<128xi32>
    %n_6 = arith.addi %n_5, %n_4 : tensor<128xi32>
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %k = tt.expand_dims %n_6 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %k_7 = arith.muli %k, %cst_2 : tensor<128x1xi32>
    %k_8 = tt.splat %K : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %k_9 = tt.addptr %k_8, %k_7 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %k_10 = tt.expand_dims %n_4 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %k_11 = tt.broadcast %k_9 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
    %k_12 = tt.broadcast %k_10 : tensor<1x128xi32> -> tensor<128x128xi32>
    %k_13 = tt.addptr %k_11, %k_12 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %k_14 = tt.load %k_13 : tensor<128x128x!tt.ptr<f16>>
    %v = tt.splat %V : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %v_15 = tt.addptr %v, %k_7 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %v_16 = tt.broadcast %v_15 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
    %v_17 = tt.addptr %v_16, %k_12 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %v_18 = tt.load %v_17 : tensor<128x128x!tt.ptr<f16>>
    %dv:2 = scf.for %s = %c0_i32 to %N step %c64_i32 iter_args(%dk = %cst, %dv_20 = %cst) -> (tensor<128x128xf32>, tensor<128x128xf32>)  : i32 {
      %m = tt.splat %s : i32 -> tensor<64xi32>
      %m_21 = arith.addi %m, %rm : tensor<64xi32>
      %q = tt.expand_dims %m_21 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %q_22 = arith.muli %q, %cst_1 : tensor<64x1xi32>
      %q_23 = tt.splat %Q : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %q_24 = tt.addptr %q_23, %q_22 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %q_25 = tt.broadcast %q_24 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x128x!tt.ptr<f16>>
      %q_26 = tt.broadcast %k_10 : tensor<1x128xi32> -> tensor<64x128xi32>
      %q_27 = tt.addptr %q_25, %q_26 : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      %q_28 = tt.load %q_27 : tensor<64x128x!tt.ptr<f16>>
      %do = tt.splat %DO : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %do_29 = tt.addptr %do, %q_22 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %do_30 = tt.broadcast %do_29 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x128x!tt.ptr<f16>>
      %do_31 = tt.addptr %do_30, %q_26 : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      %do_32 = tt.load %do_31 : tensor<64x128x!tt.ptr<f16>>
      %l = tt.splat %M : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %l_33 = tt.addptr %l, %m_21 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %l_34 = tt.load %l_33 : tensor<64x!tt.ptr<f32>>
      %p = tt.trans %q_28 {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
      %p_35 = tt.dot %k_14, %p, %cst_0, inputPrecision = tf32 : tensor<128x128xf16> * tensor<128x64xf16> -> tensor<128x64xf32>
      %p_36 = tt.expand_dims %l_34 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %p_37 = tt.broadcast %p_36 : tensor<1x64xf32> -> tensor<128x64xf32>
      %p_38 = arith.subf %p_35, %p_37 : tensor<128x64xf32>
      %p_39 = math.exp2 %p_38 : tensor<128x64xf32>
      %dv_40 = arith.truncf %p_39 : tensor<128x64xf32> to tensor<128x64xf16>
      %dv_41 = tt.dot %dv_40, %do_32, %dv_20, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      %ds = tt.trans %do_32 {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
      %ds_42 = tt.dot %v_18, %ds, %cst_0, inputPrecision = tf32 : tensor<128x128xf16> * tensor<128x64xf16> -> tensor<128x64xf32>
      %ds_43 = tt.splat %L : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %ds_44 = tt.addptr %ds_43, %m_21 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %ds_45 = tt.load %ds_44 : tensor<64x!tt.ptr<f32>>
      %ds_46 = tt.expand_dims %ds_45 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %ds_47 = tt.broadcast %ds_46 : tensor<1x64xf32> -> tensor<128x64xf32>
      %ds_48 = arith.subf %ds_42, %ds_47 : tensor<128x64xf32>
      %ds_49 = arith.mulf %p_39, %ds_48 : tensor<128x64xf32>
      %dk_50 = arith.truncf %ds_49 : tensor<128x64xf32> to tensor<128x64xf16>
      %dk_51 = tt.dot %dk_50, %q_28, %dk, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      scf.yield %dk_51, %dv_41 : tensor<128x128xf32>, tensor<128x128xf32>
    }
    %o = tt.broadcast %k_7 : tensor<128x1xi32> -> tensor<128x128xi32>
    %o_19 = arith.addi %o, %k_12 : tensor<128x128xi32>
    %0 = tt.splat %DK : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %1 = tt.addptr %0, %o_19 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %2 = arith.truncf %dv#0 : tensor<128x128xf32> to tensor<128x128xf16>
    tt.store %1, %2 : tensor<128x128x!tt.ptr<f16>>
    %3 = tt.splat %DV : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %4 = tt.addptr %3, %o_19 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %5 = arith.truncf %dv#1 : tensor<128x128xf32> to tensor<128x128xf16>
    tt.store %4, %5 : tensor<128x128x!tt.ptr<f16>>
    tt.return
  }
}
