// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @layernorm(%x: !tt.ptr<f16>, %w: !tt.ptr<f16>, %bb: !tt.ptr<f16>, %o: !tt.ptr<f16>, %mean: !tt.ptr<f32>, %N: i32, %eps: f32) attributes {noinline = false} {
    %row = tt.get_program_id x : i32
    %x_0 = arith.extsi %row : i32 to i64
    %x_1 = arith.extsi %N : i32 to i64
    %x_2 = arith.muli %x_0, %x_1 : i64
    %x_3 = arith.constant 2147483647 : i64
    %x_4 = arith.constant -2147483648 : i64
    %x_5 = arith.cmpi sle, %x_2, %x_3 : i64
    %x_6 = arith.cmpi sge, %x_2, %x_4 : i64
    %x_7 = arith.andi %x_5, %x_6 : i1
    %x_8 = arith.muli %row, %N : i32
    %x_9 = tt.addptr %x, %x_8 : !tt.ptr<f16>, i32
    %o_10 = arith.extsi %row : i32 to i64
    %o_11 = arith.extsi %N : i32 to i64
    %o_12 = arith.muli %o_10, %o_11 : i64
    %o_13 = arith.constant 2147483647 : i64
    %o_14 = arith.constant -2147483648 : i64
    %o_15 = arith.cmpi sle, %o_12, %o_13 : i64
    %o_16 = arith.cmpi sge, %o_12, %o_14 : i64
    %o_17 = arith.andi %o_15, %o_16 : i1
    %o_18 = arith.muli %row, %N : i32
    %o_19 = tt.addptr %o, %o_18 : !tt.ptr<f16>, i32
    %s = tt.call @"triton.language.standard.zeros____(0, 0)cconstexpr_64__(1,)cconstexpr_fp32_"() : () -> tensor<64xf32>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = arith.bitcast %c0_i32 : i32 to i32
    %1 = arith.bitcast %N : i32 to i32
    %2 = arith.bitcast %c64_i32 : i32 to i32
    %3 = ub.poison : i32
    %s_20 = scf.for %off = %0 to %1 step %2 iter_args(%s_35 = %s) -> (tensor<64xf32>)  : i32 {
      %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %c_36 = tt.splat %off : i32 -> tensor<64xi32>
      %c_37 = arith.extsi %c_36 : tensor<64xi32> to tensor<64xi64>
      %c_38 = arith.extsi %c : tensor<64xi32> to tensor<64xi64>
      %c_39 = arith.addi %c_37, %c_38 : tensor<64xi64>
      %c_40 = arith.constant 2147483647 : i64
      %c_41 = arith.constant -2147483648 : i64
      %c_42 = arith.constant dense<2147483647> : tensor<64xi64>
      %c_43 = arith.cmpi sle, %c_39, %c_42 : tensor<64xi64>
      %c_44 = arith.constant dense<-2147483648> : tensor<64xi64>
      %c_45 = arith.cmpi sge, %c_39, %c_44 : tensor<64xi64>
      %c_46 = arith.andi %c_43, %c_45 : tensor<64xi1>
      %c_47 = arith.addi %c_36, %c : tensor<64xi32>
      %s_48 = tt.splat %N : i32 -> tensor<64xi32>
      %s_49 = arith.cmpi slt, %c_47, %s_48 : tensor<64xi32>
      %s_50 = tt.splat %x_9 : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %s_51 = tt.addptr %s_50, %c_47 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %s_52 = arith.constant 0.000000e+00 : f32
      %s_53 = arith.constant dense<0.000000e+00> : tensor<64xf32>
      %s_54 = arith.truncf %s_53 : tensor<64xf32> to tensor<64xf16>
      %s_55 = tt.load %s_51, %s_49, %s_54 : tensor<64x!tt.ptr<f16>>
      %s_56 = arith.extf %s_55 : tensor<64xf16> to tensor<64xf32>
      %s_57 = arith.addf %s_35, %s_56 : tensor<64xf32>
      scf.yield %s_57 : tensor<64xf32>
    }
    %mu = tt.call @"triton.language.standard.sum__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%s_20) : (tensor<64xf32>) -> f32
    %mu_21 = arith.sitofp %N : i32 to f32
    %mu_22 = arith.divf %mu, %mu_21 : f32
    %v = tt.call @"triton.language.standard.zeros____(0, 0)cconstexpr_64__(1,)cconstexpr_fp32_"() : () -> tensor<64xf32>
    %c0_i32_23 = arith.constant 0 : i32
    %c64_i32_24 = arith.constant 64 : i32
    %4 = arith.bitcast %c0_i32_23 : i32 to i32
    %5 = arith.bitcast %N : i32 to i32
    %6 = arith.bitcast %c64_i32_24 : i32 to i32
    %7 = ub.poison : i32
    %v_25 = scf.for %off = %4 to %5 step %6 iter_args(%v_35 = %v) -> (tensor<64xf32>)  : i32 {
      %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %c_36 = tt.splat %off : i32 -> tensor<64xi32>
      %c_37 = arith.extsi %c_36 : tensor<64xi32> to tensor<64xi64>
      %c_38 = arith.extsi %c : tensor<64xi32> to tensor<64xi64>
      %c_39 = arith.addi %c_37, %c_38 : tensor<64xi64>
      %c_40 = arith.constant 2147483647 : i64
      %c_41 = arith.constant -2147483648 : i64
      %c_42 = arith.constant dense<2147483647> : tensor<64xi64>
      %c_43 = arith.cmpi sle, %c_39, %c_42 : tensor<64xi64>
      %c_44 = arith.constant dense<-2147483648> : tensor<64xi64>
      %c_45 = arith.cmpi sge, %c_39, %c_44 : tensor<64xi64>
      %c_46 = arith.andi %c_43, %c_45 : tensor<64xi1>
      %c_47 = arith.addi %c_36, %c : tensor<64xi32>
      %a = tt.splat %N : i32 -> tensor<64xi32>
      %a_48 = arith.cmpi slt, %c_47, %a : tensor<64xi32>
      %a_49 = tt.splat %x_9 : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %a_50 = tt.addptr %a_49, %c_47 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %a_51 = arith.constant 0.000000e+00 : f32
      %a_52 = arith.constant dense<0.000000e+00> : tensor<64xf32>
      %a_53 = arith.truncf %a_52 : tensor<64xf32> to tensor<64xf16>
      %a_54 = tt.load %a_50, %a_48, %a_53 : tensor<64x!tt.ptr<f16>>
      %a_55 = arith.extf %a_54 : tensor<64xf16> to tensor<64xf32>
      %a_56 = tt.splat %N : i32 -> tensor<64xi32>
      %a_57 = arith.cmpi slt, %c_47, %a_56 : tensor<64xi32>
      %a_58 = tt.splat %mu_22 : f32 -> tensor<64xf32>
      %a_59 = arith.subf %a_55, %a_58 : tensor<64xf32>
      %a_60 = arith.constant 0.000000e+00 : f32
      %a_61 = arith.constant 0.000000e+00 : f32
      %a_62 = arith.constant dense<0.000000e+00> : tensor<64xf32>
      %a_63 = arith.select %a_57, %a_59, %a_62 : tensor<64xi1>, tensor<64xf32>
      %v_64 = arith.mulf %a_63, %a_63 : tensor<64xf32>
      %v_65 = arith.addf %v_35, %v_64 : tensor<64xf32>
      scf.yield %v_65 : tensor<64xf32>
    }
    %rstd = tt.call @"triton.language.standard.sum__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%v_25) : (tensor<64xf32>) -> f32
    %rstd_26 = arith.sitofp %N : i32 to f32
    %rstd_27 = arith.divf %rstd, %rstd_26 : f32
    %rstd_28 = arith.addf %rstd_27, %eps : f32
    %rstd_29 = math.sqrt %rstd_28 : f32
    %rstd_30 = arith.constant 1 : i32
    %rstd_31 = arith.constant 1.000000e+00 : f32
    %rstd_32 = arith.divf %rstd_31, %rstd_29 : f32
    %8 = tt.addptr %mean, %row : !tt.ptr<f32>, i32
    tt.store %8, %mu_22 : !tt.ptr<f32>
    %c0_i32_33 = arith.constant 0 : i32
    %c64_i32_34 = arith.constant 64 : i32
    %9 = arith.bitcast %c0_i32_33 : i32 to i32
    %10 = arith.bitcast %N : i32 to i32
    %11 = arith.bitcast %c64_i32_34 : i32 to i32
    %12 = ub.poison : i32
    scf.for %off = %9 to %10 step %11  : i32 {
      %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %c_35 = tt.splat %off : i32 -> tensor<64xi32>
      %c_36 = arith.extsi %c_35 : tensor<64xi32> to tensor<64xi64>
      %c_37 = arith.extsi %c : tensor<64xi32> to tensor<64xi64>
      %c_38 = arith.addi %c_36, %c_37 : tensor<64xi64>
      %c_39 = arith.constant 2147483647 : i64
      %c_40 = arith.constant -2147483648 : i64
      %c_41 = arith.constant dense<2147483647> : tensor<64xi64>
      %c_42 = arith.cmpi sle, %c_38, %c_41 : tensor<64xi64>
      %c_43 = arith.constant dense<-2147483648> : tensor<64xi64>
      %c_44 = arith.cmpi sge, %c_38, %c_43 : tensor<64xi64>
      %c_45 = arith.andi %c_42, %c_44 : tensor<64xi1>
      %c_46 = arith.addi %c_35, %c : tensor<64xi32>
      %m = tt.splat %N : i32 -> tensor<64xi32>
      %m_47 = arith.cmpi slt, %c_46, %m : tensor<64xi32>
      %a = tt.splat %x_9 : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %a_48 = tt.addptr %a, %c_46 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %a_49 = arith.constant 0.000000e+00 : f32
      %a_50 = arith.constant dense<0.000000e+00> : tensor<64xf32>
      %a_51 = arith.truncf %a_50 : tensor<64xf32> to tensor<64xf16>
      %a_52 = tt.load %a_48, %m_47, %a_51 : tensor<64x!tt.ptr<f16>>
      %a_53 = arith.extf %a_52 : tensor<64xf16> to tensor<64xf32>
      %13 = tt.splat %o_19 : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %14 = tt.addptr %13, %c_46 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %15 = tt.splat %mu_22 : f32 -> tensor<64xf32>
      %16 = arith.subf %a_53, %15 : tensor<64xf32>
      %17 = tt.splat %rstd_32 : f32 -> tensor<64xf32>
      %18 = arith.mulf %16, %17 : tensor<64xf32>
      %19 = tt.splat %w : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %20 = tt.addptr %19, %c_46 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %21 = tt.load %20, %m_47 : tensor<64x!tt.ptr<f16>>
      %22 = arith.extf %21 : tensor<64xf16> to tensor<64xf32>
      %23 = arith.mulf %18, %22 : tensor<64xf32>
      %24 = tt.splat %bb : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %25 = tt.addptr %24, %c_46 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %26 = tt.load %25, %m_47 : tensor<64x!tt.ptr<f16>>
      %27 = arith.extf %26 : tensor<64xf16> to tensor<64xf32>
      %28 = arith.addf %23, %27 : tensor<64xf32>
      %29 = arith.truncf %28 : tensor<64xf32> to tensor<64xf16>
      tt.store %14, %29, %m_47 : tensor<64x!tt.ptr<f16>>
    }
    tt.return
  }
  tt.func private @"triton.language.standard.zeros____(0, 0)cconstexpr_64__(1,)cconstexpr_fp32_"() -> tensor<64xf32> attributes {noinline = false} {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    tt.return %cst_0 : tensor<64xf32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<64xf32>
    tt.return %0 : tensor<64xf32>
  }
  tt.func private @"triton.language.standard.sum__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%input: tensor<64xf32>) -> f32 attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 0 : i32}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = tt.call @triton.language.standard._sum_combine__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
      tt.reduce.return %2 : f32
    }) : (tensor<64xf32>) -> f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
  tt.func private @triton.language.standard._sum_combine__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %0 = arith.addf %a, %b : f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
}
