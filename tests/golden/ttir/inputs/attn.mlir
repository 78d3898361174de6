// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @attn(%q: !tt.ptr<f16>, %k: !tt.ptr<f16>, %v: !tt.ptr<f16>, %o: !tt.ptr<f16>, %n: i32, %scale: f32) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32
    %qp = arith.constant 16 : i32
    %qp_0 = arith.constant 16 : i32
    %qp_1 = arith.extsi %pid : i32 to i64
    %qp_2 = arith.extsi %qp_0 : i32 to i64
    %qp_3 = arith.muli %qp_1, %qp_2 : i64
    %qp_4 = arith.constant 2147483647 : i64
    %qp_5 = arith.constant -2147483648 : i64
    %qp_6 = arith.cmpi sle, %qp_3, %qp_4 : i64
    %qp_7 = arith.cmpi sge, %qp_3, %qp_5 : i64
    %qp_8 = arith.andi %qp_6, %qp_7 : i1
    %qp_9 = arith.muli %pid, %qp_0 : i32
    %qp_10 = arith.extsi %n : i32 to i64
    %qp_11 = arith.constant 16 : i64
    %qp_12 = arith.constant 16 : i64
    %qp_13 = arith.constant 1 : i64
    %qp_14 = arith.constant 0 : i32
    %qp_15 = tt.make_tensor_ptr %q, [%qp_10, %qp_11], [%qp_12, %qp_13], [%qp_9, %qp_14] {order = array<i32: 1, 0>} : <tensor<16x16xf16>>
    %kp = arith.constant 16 : i64
    %kp_16 = arith.extsi %n : i32 to i64
    %kp_17 = arith.constant 1 : i64
    %kp_18 = arith.constant 16 : i64
    %kp_19 = arith.constant 0 : i32
    %kp_20 = arith.constant 0 : i32
    %kp_21 = tt.make_tensor_ptr %k, [%kp, %kp_16], [%kp_17, %kp_18], [%kp_19, %kp_20] {order = array<i32: 0, 1>} : <tensor<16x16xf16>>
    %vp = arith.extsi %n : i32 to i64
    %vp_22 = arith.constant 16 : i64
    %vp_23 = arith.constant 16 : i64
    %vp_24 = arith.constant 1 : i64
    %vp_25 = arith.constant 0 : i32
    %vp_26 = arith.constant 0 : i32
    %vp_27 = tt.make_tensor_ptr %v, [%vp, %vp_22], [%vp_23, %vp_24], [%vp_25, %vp_26] {order = array<i32: 1, 0>} : <tensor<16x16xf16>>
    %om = arith.constant 16 : i32
    %om_28 = arith.constant 16 : i32
    %om_29 = arith.extsi %pid : i32 to i64
    %om_30 = arith.extsi %om_28 : i32 to i64
    %om_31 = arith.muli %om_29, %om_30 : i64
    %om_32 = arith.constant 2147483647 : i64
    %om_33 = arith.constant -2147483648 : i64
    %om_34 = arith.cmpi sle, %om_31, %om_32 : i64
    %om_35 = arith.cmpi sge, %om_31, %om_33 : i64
    %om_36 = arith.andi %om_34, %om_35 : i1
    %om_37 = arith.muli %pid, %om_28 : i32
    %om_38 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %om_39 = tt.splat %om_37 : i32 -> tensor<16xi32>
    %om_40 = arith.extsi %om_39 : tensor<16xi32> to tensor<16xi64>
    %om_41 = arith.extsi %om_38 : tensor<16xi32> to tensor<16xi64>
    %om_42 = arith.addi %om_40, %om_41 : tensor<16xi64>
    %om_43 = arith.constant 2147483647 : i64
    %om_44 = arith.constant -2147483648 : i64
    %om_45 = arith.constant dense<2147483647> : tensor<16xi64>
    %om_46 = arith.cmpi sle, %om_42, %om_45 : tensor<16xi64>
    %om_47 = arith.constant dense<-2147483648> : tensor<16xi64>
    %om_48 = arith.cmpi sge, %om_42, %om_47 : tensor<16xi64>
    %om_49 = arith.andi %om_46, %om_48 : tensor<16xi1>
    %om_50 = arith.addi %om_39, %om_38 : tensor<16xi32>
    %on = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %m = arith.constant 0xFF800000 : f32
    %m_51 = arith.constant dense<0xFF800000> : tensor<16xf32>
    %l = tt.call @"triton.language.standard.zeros____(0, 0)cconstexpr_16__(1,)cconstexpr_fp32_"() : () -> tensor<16xf32>
    %l_52 = arith.constant 1.000000e+00 : f32
    %l_53 = arith.constant 1.000000e+00 : f32
    %l_54 = arith.constant dense<1.000000e+00> : tensor<16xf32>
    %l_55 = arith.addf %l, %l_54 : tensor<16xf32>
    %acc = tt.call @"triton.language.standard.zeros____(0, 0)cconstexpr_16__(0, 1)cconstexpr_16__(1,)cconstexpr_fp32_"() : () -> tensor<16x16xf32>
    %qq = tt.load %qp_15 {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<16x16xf16>>
    %c1_i32 = arith.constant 1 : i32
    %c1_i32_56 = arith.constant 1 : i32
    %0 = arith.extsi %pid : i32 to i64
    %1 = arith.extsi %c1_i32_56 : i32 to i64
    %2 = arith.addi %0, %1 : i64
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %3 = arith.cmpi sle, %2, %c2147483647_i64 : i64
    %4 = arith.cmpi sge, %2, %c-2147483648_i64 : i64
    %5 = arith.andi %3, %4 : i1
    %6 = arith.addi %pid, %c1_i32_56 : i32
    %c16_i32 = arith.constant 16 : i32
    %c16_i32_57 = arith.constant 16 : i32
    %7 = arith.extsi %6 : i32 to i64
    %8 = arith.extsi %c16_i32_57 : i32 to i64
    %9 = arith.muli %7, %8 : i64
    %c2147483647_i64_58 = arith.constant 2147483647 : i64
    %c-2147483648_i64_59 = arith.constant -2147483648 : i64
    %10 = arith.cmpi sle, %9, %c2147483647_i64_58 : i64
    %11 = arith.cmpi sge, %9, %c-2147483648_i64_59 : i64
    %12 = arith.andi %10, %11 : i1
    %13 = arith.muli %6, %c16_i32_57 : i32
    %c0_i32 = arith.constant 0 : i32
    %c16_i32_60 = arith.constant 16 : i32
    %14 = arith.bitcast %c0_i32 : i32 to i32
    %15 = arith.bitcast %13 : i32 to i32
    %16 = arith.bitcast %c16_i32_60 : i32 to i32
    %17 = ub.poison : i32
    %acc_61:5 = scf.for %s = %14 to %15 step %16 iter_args(%kp_78 = %kp_21, %vp_79 = %vp_27, %m_80 = %m_51, %l_81 = %l_55, %acc_82 = %acc) -> (!tt.ptr<tensor<16x16xf16>>, !tt.ptr<tensor<16x16xf16>>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>)  : i32 {
      %kk = tt.load %kp_78 {boundaryCheck = array<i32: 1>, padding = 1 : i32} : !tt.ptr<tensor<16x16xf16>>
      %w = arith.constant 0.000000e+00 : f32
      %w_83 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
      %w_84 = tt.dot %qq, %kk, %w_83, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      %w_85 = tt.splat %scale : f32 -> tensor<16x16xf32>
      %w_86 = arith.mulf %w_84, %w_85 : tensor<16x16xf32>
      %w_87 = tt.expand_dims %om_50 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %w_88 = tt.expand_dims %on {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %w_89 = tt.splat %s : i32 -> tensor<1x16xi32>
      %w_90 = arith.extsi %w_89 : tensor<1x16xi32> to tensor<1x16xi64>
      %w_91 = arith.extsi %w_88 : tensor<1x16xi32> to tensor<1x16xi64>
      %w_92 = arith.addi %w_90, %w_91 : tensor<1x16xi64>
      %w_93 = arith.constant 2147483647 : i64
      %w_94 = arith.constant -2147483648 : i64
      %w_95 = arith.constant dense<2147483647> : tensor<1x16xi64>
      %w_96 = arith.cmpi sle, %w_92, %w_95 : tensor<1x16xi64>
      %w_97 = arith.constant dense<-2147483648> : tensor<1x16xi64>
      %w_98 = arith.cmpi sge, %w_92, %w_97 : tensor<1x16xi64>
      %w_99 = arith.andi %w_96, %w_98 : tensor<1x16xi1>
      %w_100 = arith.addi %w_89, %w_88 : tensor<1x16xi32>
      %w_101 = tt.broadcast %w_87 : tensor<16x1xi32> -> tensor<16x16xi32>
      %w_102 = tt.broadcast %w_100 : tensor<1x16xi32> -> tensor<16x16xi32>
      %w_103 = arith.cmpi sge, %w_101, %w_102 : tensor<16x16xi32>
      %w_104 = arith.constant 0xFF800000 : f32
      %w_105 = arith.constant 0xFF800000 : f32
      %w_106 = arith.constant dense<0xFF800000> : tensor<16x16xf32>
      %w_107 = arith.select %w_103, %w_86, %w_106 : tensor<16x16xi1>, tensor<16x16xf32>
      %mn = tt.call @"triton.language.standard.max__fp32S16_16S__(1,)cconstexpr_1__(2,)cconstexpr_False__(3,)cconstexpr_True__(4,)cconstexpr_False_"(%w_107) : (tensor<16x16xf32>) -> tensor<16xf32>
      %mn_108 = arith.maxnumf %m_80, %mn : tensor<16xf32>
      %p = tt.expand_dims %mn_108 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %p_109 = tt.broadcast %p : tensor<16x1xf32> -> tensor<16x16xf32>
      %p_110 = arith.subf %w_107, %p_109 : tensor<16x16xf32>
      %p_111 = math.exp2 %p_110 : tensor<16x16xf32>
      %a = arith.subf %m_80, %mn_108 : tensor<16xf32>
      %a_112 = math.exp2 %a : tensor<16xf32>
      %l_113 = arith.mulf %l_81, %a_112 : tensor<16xf32>
      %l_114 = tt.call @"triton.language.standard.sum__fp32S16_16S__(1,)cconstexpr_1__(2,)cconstexpr_False__(3,)cNone"(%p_111) : (tensor<16x16xf32>) -> tensor<16xf32>
      %l_115 = arith.addf %l_113, %l_114 : tensor<16xf32>
      %acc_116 = tt.expand_dims %a_112 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %acc_117 = tt.broadcast %acc_116 : tensor<16x1xf32> -> tensor<16x16xf32>
      %acc_118 = arith.mulf %acc_82, %acc_117 : tensor<16x16xf32>
      %vv = tt.load %vp_79 {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<16x16xf16>>
      %acc_119 = arith.truncf %p_111 : tensor<16x16xf32> to tensor<16x16xf16>
      %acc_120 = arith.constant 0.000000e+00 : f32
      %acc_121 = tt.dot %acc_119, %vv, %acc_118, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      %vp_122 = arith.constant 16 : i32
      %vp_123 = arith.constant 0 : i32
      %vp_124 = tt.advance %vp_79, [%vp_122, %vp_123] : <tensor<16x16xf16>>
      %kp_125 = arith.constant 0 : i32
      %kp_126 = arith.constant 16 : i32
      %kp_127 = tt.advance %kp_78, [%kp_125, %kp_126] : <tensor<16x16xf16>>
      scf.yield %kp_127, %vp_124, %mn_108, %l_115, %acc_121 : !tt.ptr<tensor<16x16xf16>>, !tt.ptr<tensor<16x16xf16>>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>
    }
    %op = arith.constant 16 : i32
    %op_62 = arith.constant 16 : i32
    %op_63 = arith.extsi %pid : i32 to i64
    %op_64 = arith.extsi %op_62 : i32 to i64
    %op_65 = arith.muli %op_63, %op_64 : i64
    %op_66 = arith.constant 2147483647 : i64
    %op_67 = arith.constant -2147483648 : i64
    %op_68 = arith.cmpi sle, %op_65, %op_66 : i64
    %op_69 = arith.cmpi sge, %op_65, %op_67 : i64
    %op_70 = arith.andi %op_68, %op_69 : i1
    %op_71 = arith.muli %pid, %op_62 : i32
    %op_72 = arith.extsi %n : i32 to i64
    %op_73 = arith.constant 16 : i64
    %op_74 = arith.constant 16 : i64
    %op_75 = arith.constant 1 : i64
    %op_76 = arith.constant 0 : i32
    %op_77 = tt.make_tensor_ptr %o, [%op_72, %op_73], [%op_74, %op_75], [%op_71, %op_76] {order = array<i32: 1, 0>} : <tensor<16x16xf16>>
    %18 = tt.expand_dims %acc_61#3 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %19 = tt.broadcast %18 : tensor<16x1xf32> -> tensor<16x16xf32>
    %20 = arith.divf %acc_61#4, %19 : tensor<16x16xf32>
    %21 = arith.truncf %20 : tensor<16x16xf32> to tensor<16x16xf16>
    tt.store %op_77, %21 {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16x16xf16>>
    tt.return
  }
  tt.func private @"triton.language.standard.zeros____(0, 0)cconstexpr_16__(1,)cconstexpr_fp32_"() -> tensor<16xf32> attributes {noinline = false} {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16xf32>
    tt.return %cst_0 : tensor<16xf32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<16xf32>
    tt.return %0 : tensor<16xf32>
  }
  tt.func private @"triton.language.standard.zeros____(0, 0)cconstexpr_16__(0, 1)cconstexpr_16__(1,)cconstexpr_fp32_"() -> tensor<16x16xf32> attributes {noinline = false} {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    tt.return %cst_0 : tensor<16x16xf32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<16x16xf32>
    tt.return %0 : tensor<16x16xf32>
  }
  tt.func private @"triton.language.standard.max__fp32S16_16S__(1,)cconstexpr_1__(2,)cconstexpr_False__(3,)cconstexpr_True__(4,)cconstexpr_False_"(%input: tensor<16x16xf32>) -> tensor<16xf32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 1 : i32}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = tt.call @triton.language.standard._elementwise_max__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
      tt.reduce.return %2 : f32
    }) : (tensor<16x16xf32>) -> tensor<16xf32>
    tt.return %0 : tensor<16xf32>
  ^bb1:  // no predecessors
    %1 = ub.poison : tensor<16xf32>
    tt.return %1 : tensor<16xf32>
  }
  tt.func private @triton.language.standard._elementwise_max__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %0 = arith.maxnumf %a, %b : f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
  tt.func private @"triton.language.standard.sum__fp32S16_16S__(1,)cconstexpr_1__(2,)cconstexpr_False__(3,)cNone"(%input: tensor<16x16xf32>) -> tensor<16xf32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 1 : i32}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = tt.call @triton.language.standard._sum_combine__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
      tt.reduce.return %2 : f32
    }) : (tensor<16x16xf32>) -> tensor<16xf32>
    tt.return %0 : tensor<16xf32>
  ^bb1:  // no predecessors
    %1 = ub.poison : tensor<16xf32>
    tt.return %1 : tensor<16xf32>
  }
  tt.func private @triton.language.standard._sum_combine__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %0 = arith.addf %a, %b : f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
}
