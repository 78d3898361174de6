// Attention whose loop holds far more values than a thread has registers: LLVM's register allocator would take over a
// minute, so the code is generated without optimisation.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit llir -o - | FileCheck %s --check-prefix=LLIR
// RUN: ulimit -t 60; tessera compile %s --target gfx942 --num-warps 1 --emit amdgcn -o - --remarks=NotOptimized 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t
// LLIR: "tessera-spills-anyway"
// CHECK: v_mfma_f32
// REMARK: remark: machine code of 'attn_fwd' is made without optimisation, {{.*}}: a tensor of it, or the values of a loop, take more than the 512 registers {{.*}} [codegen:NotOptimized]
// REMARK-NOT: remark
tt.func public @attn_fwd(%q: !tt.ptr<f16>, %k: !tt.ptr<f16>, %v: !tt.ptr<f16>, %o: !tt.ptr<f16>, %lse: !tt.ptr<f32>, %scale: f32, %H: i32, %N: i32) {
  %acc = arith.constant dense<0.000000e+00> : tensor<256x128xf32>
  %li = arith.constant dense<0.000000e+00> : tensor<256xf32>
  %c32_i32 = arith.constant 64 : i32
  %c0_i32 = arith.constant 0 : i32
  %cst = arith.constant dense<128> : tensor<64x1xi32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<256x64xf32>
  %cst_1 = arith.constant dense<128> : tensor<1x64xi32>
  %cst_2 = arith.constant 1.44269502 : f32
  %mi = arith.constant dense<0xFF800000> : tensor<256xf32>
  %cst_3 = arith.constant dense<128> : tensor<256x1xi32>
  %base = arith.constant 128 : i64
  %c64_i32 = arith.constant 256 : i32
  %pm = tt.get_program_id x : i32
  %bh = tt.get_program_id y : i32
  %bh_4 = arith.extsi %bh : i32 to i64
  %base_5 = arith.extsi %N : i32 to i64
  %base_6 = arith.muli %bh_4, %base_5 : i64
  %base_7 = arith.muli %base_6, %base : i64
  %om = arith.muli %pm, %c64_i32 : i32
  %om_8 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %om_d = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %om_9 = tt.splat %om : i32 -> tensor<256xi32>
  %om_10 = arith.addi %om_9, %om_8 : tensor<256xi32>
  %x = tt.addptr %q, %base_7 : !tt.ptr<f16>, i64
  %x_11 = tt.expand_dims %om_10 {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %x_12 = arith.muli %x_11, %cst_3 : tensor<256x1xi32>
  %x_13 = tt.splat %x : !tt.ptr<f16> -> tensor<256x1x!tt.ptr<f16>>
  %x_14 = tt.addptr %x_13, %x_12 : tensor<256x1x!tt.ptr<f16>>, tensor<256x1xi32>
  %x_15 = tt.expand_dims %om_d {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %x_16 = tt.broadcast %x_14 : tensor<256x1x!tt.ptr<f16>> -> tensor<256x128x!tt.ptr<f16>>
  %x_17 = tt.broadcast %x_15 : tensor<1x128xi32> -> tensor<256x128xi32>
  %x_18 = tt.addptr %x_16, %x_17 : tensor<256x128x!tt.ptr<f16>>, tensor<256x128xi32>
  %x_19 = tt.load %x_18 : tensor<256x128x!tt.ptr<f16>>
  %sc = arith.mulf %scale, %cst_2 : f32
  %acc_20:3 = scf.for %s = %c0_i32 to %N step %c32_i32 iter_args(%mi_21 = %mi, %li_22 = %li, %acc_23 = %acc) -> (tensor<256xf32>, tensor<256xf32>, tensor<256x128xf32>)  : i32 {
    %on = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %on_24 = tt.splat %s : i32 -> tensor<64xi32>
    %on_25 = arith.addi %on_24, %on : tensor<64xi32>
    %kt = tt.addptr %k, %base_7 : !tt.ptr<f16>, i64
    %kt_26 = tt.expand_dims %on_25 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %kt_27 = arith.muli %kt_26, %cst_1 : tensor<1x64xi32>
    %kt_28 = tt.splat %kt : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>>
    %kt_29 = tt.addptr %kt_28, %kt_27 : tensor<1x64x!tt.ptr<f16>>, tensor<1x64xi32>
    %kt_30 = tt.expand_dims %om_d {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %kt_31 = tt.broadcast %kt_29 : tensor<1x64x!tt.ptr<f16>> -> tensor<128x64x!tt.ptr<f16>>
    %kt_32 = tt.broadcast %kt_30 : tensor<128x1xi32> -> tensor<128x64xi32>
    %kt_33 = tt.addptr %kt_31, %kt_32 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %kt_34 = tt.load %kt_33 : tensor<128x64x!tt.ptr<f16>>
    %p = tt.dot %x_19, %kt_34, %cst_0, inputPrecision = tf32 : tensor<256x128xf16> * tensor<128x64xf16> -> tensor<256x64xf32>
    %p_35 = tt.splat %sc : f32 -> tensor<256x64xf32>
    %p_36 = arith.mulf %p, %p_35 : tensor<256x64xf32>
    %mn = "tt.reduce"(%p_36) <{axis = 1 : i32}> ({
    ^bb0(%mn_59: f32, %mn_60: f32):
      %mn_61 = arith.maxnumf %mn_59, %mn_60 : f32
      tt.reduce.return %mn_61 : f32
    }) : (tensor<256x64xf32>) -> tensor<256xf32>
    %mn_37 = arith.maxnumf %mi_21, %mn : tensor<256xf32>
    %p_38 = tt.expand_dims %mn_37 {axis = 1 : i32} : tensor<256xf32> -> tensor<256x1xf32>
    %p_39 = tt.broadcast %p_38 : tensor<256x1xf32> -> tensor<256x64xf32>
    %p_40 = arith.subf %p_36, %p_39 : tensor<256x64xf32>
    %p_41 = math.exp2 %p_40 : tensor<256x64xf32>
    %al = arith.subf %mi_21, %mn_37 : tensor<256xf32>
    %al_42 = math.exp2 %al : tensor<256xf32>
    %li_43 = arith.mulf %li_22, %al_42 : tensor<256xf32>
    %li_44 = "tt.reduce"(%p_41) <{axis = 1 : i32}> ({
    ^bb0(%li_59: f32, %li_60: f32):
      %li_61 = arith.addf %li_59, %li_60 : f32
      tt.reduce.return %li_61 : f32
    }) : (tensor<256x64xf32>) -> tensor<256xf32>
    %li_45 = arith.addf %li_43, %li_44 : tensor<256xf32>
    %acc_46 = tt.expand_dims %al_42 {axis = 1 : i32} : tensor<256xf32> -> tensor<256x1xf32>
    %acc_47 = tt.broadcast %acc_46 : tensor<256x1xf32> -> tensor<256x128xf32>
    %acc_48 = arith.mulf %acc_23, %acc_47 : tensor<256x128xf32>
    %vv = tt.addptr %v, %base_7 : !tt.ptr<f16>, i64
    %vv_49 = tt.expand_dims %on_25 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %vv_50 = arith.muli %vv_49, %cst : tensor<64x1xi32>
    %vv_51 = tt.splat %vv : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %vv_52 = tt.addptr %vv_51, %vv_50 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %vv_53 = tt.broadcast %vv_52 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x128x!tt.ptr<f16>>
    %vv_54 = tt.broadcast %x_15 : tensor<1x128xi32> -> tensor<64x128xi32>
    %vv_55 = tt.addptr %vv_53, %vv_54 : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %vv_56 = tt.load %vv_55 : tensor<64x128x!tt.ptr<f16>>
    %acc_57 = arith.truncf %p_41 : tensor<256x64xf32> to tensor<256x64xf16>
    %acc_58 = tt.dot %acc_57, %vv_56, %acc_48, inputPrecision = tf32 : tensor<256x64xf16> * tensor<64x128xf16> -> tensor<256x128xf32>
    scf.yield %mn_37, %li_45, %acc_58 : tensor<256xf32>, tensor<256xf32>, tensor<256x128xf32>
  }
  %0 = tt.addptr %lse, %base_6 : !tt.ptr<f32>, i64
  %1 = tt.splat %0 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %2 = tt.addptr %1, %om_10 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %3 = math.log2 %acc_20#1 : tensor<256xf32>
  %4 = arith.addf %acc_20#0, %3 : tensor<256xf32>
  tt.store %2, %4 : tensor<256x!tt.ptr<f32>>
  %5 = tt.addptr %o, %base_7 : !tt.ptr<f16>, i64
  %6 = tt.splat %5 : !tt.ptr<f16> -> tensor<256x1x!tt.ptr<f16>>
  %7 = tt.addptr %6, %x_12 : tensor<256x1x!tt.ptr<f16>>, tensor<256x1xi32>
  %8 = tt.broadcast %7 : tensor<256x1x!tt.ptr<f16>> -> tensor<256x128x!tt.ptr<f16>>
  %9 = tt.addptr %8, %x_17 : tensor<256x128x!tt.ptr<f16>>, tensor<256x128xi32>
  %10 = tt.expand_dims %acc_20#1 {axis = 1 : i32} : tensor<256xf32> -> tensor<256x1xf32>
  %11 = tt.broadcast %10 : tensor<256x1xf32> -> tensor<256x128xf32>
  %12 = arith.divf %acc_20#2, %11 : tensor<256x128xf32>
  %13 = arith.truncf %12 : tensor<256x128xf32> to tensor<256x128xf16>
  tt.store %9, %13 : tensor<256x128x!tt.ptr<f16>>
  tt.return
}
