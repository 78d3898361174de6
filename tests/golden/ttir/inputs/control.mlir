// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @control(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32
    %c32_i32 = arith.constant 32 : i32
    %c32_i32_0 = arith.constant 32 : i32
    %0 = arith.extsi %pid : i32 to i64
    %1 = arith.extsi %c32_i32_0 : i32 to i64
    %2 = arith.muli %0, %1 : i64
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %3 = arith.cmpi sle, %2, %c2147483647_i64 : i64
    %4 = arith.cmpi sge, %2, %c-2147483648_i64 : i64
    %5 = arith.andi %3, %4 : i1
    %6 = arith.muli %pid, %c32_i32_0 : i32
    %7 = arith.cmpi sge, %6, %n : i32
    cf.cond_br %7, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    tt.return
  ^bb2:  // pred: ^bb0
    cf.br ^bb4
  ^bb3:  // no predecessors
    cf.br ^bb4
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %offs = arith.constant 32 : i32
    %offs_1 = arith.constant 32 : i32
    %offs_2 = arith.extsi %pid : i32 to i64
    %offs_3 = arith.extsi %offs_1 : i32 to i64
    %offs_4 = arith.muli %offs_2, %offs_3 : i64
    %offs_5 = arith.constant 2147483647 : i64
    %offs_6 = arith.constant -2147483648 : i64
    %offs_7 = arith.cmpi sle, %offs_4, %offs_5 : i64
    %offs_8 = arith.cmpi sge, %offs_4, %offs_6 : i64
    %offs_9 = arith.andi %offs_7, %offs_8 : i1
    %offs_10 = arith.muli %pid, %offs_1 : i32
    %offs_11 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %offs_12 = tt.splat %offs_10 : i32 -> tensor<32xi32>
    %offs_13 = arith.extsi %offs_12 : tensor<32xi32> to tensor<32xi64>
    %offs_14 = arith.extsi %offs_11 : tensor<32xi32> to tensor<32xi64>
    %offs_15 = arith.addi %offs_13, %offs_14 : tensor<32xi64>
    %offs_16 = arith.constant 2147483647 : i64
    %offs_17 = arith.constant -2147483648 : i64
    %offs_18 = arith.constant dense<2147483647> : tensor<32xi64>
    %offs_19 = arith.cmpi sle, %offs_15, %offs_18 : tensor<32xi64>
    %offs_20 = arith.constant dense<-2147483648> : tensor<32xi64>
    %offs_21 = arith.cmpi sge, %offs_15, %offs_20 : tensor<32xi64>
    %offs_22 = arith.andi %offs_19, %offs_21 : tensor<32xi1>
    %offs_23 = arith.addi %offs_12, %offs_11 : tensor<32xi32>
    %v = tt.splat %n : i32 -> tensor<32xi32>
    %v_24 = arith.cmpi slt, %offs_23, %v : tensor<32xi32>
    %v_25 = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %v_26 = tt.addptr %v_25, %offs_23 : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %v_27 = arith.constant 0 : i32
    %v_28 = arith.constant dense<0> : tensor<32xi32>
    %v_29 = tt.load %v_26, %v_24, %v_28 : tensor<32x!tt.ptr<i32>>
    %v_30 = tt.call @"kernels.helper__i32S32S__(1,)cconstexpr_1_"(%v_29) : (tensor<32xi32>) -> tensor<32xi32>
    %v_31 = tt.call @"kernels.helper__i32S32S__(1,)cconstexpr_2_"(%v_30) : (tensor<32xi32>) -> tensor<32xi32>
    %v_32 = tt.call @"kernels.helper__i32S32S__(1,)cconstexpr_3_"(%v_31) : (tensor<32xi32>) -> tensor<32xi32>
    %j = arith.constant 0 : i32
    %j_33:2 = scf.while (%v_36 = %v_32, %j_37 = %j) : (tensor<32xi32>, i32) -> (tensor<32xi32>, i32) {
      %17 = arith.cmpi slt, %j_37, %n : i32
      scf.condition(%17) %v_36, %j_37 : tensor<32xi32>, i32
    } do {
    ^bb0(%v_36: tensor<32xi32>, %j_37: i32):
      %v_38 = tt.splat %j_37 : i32 -> tensor<32xi32>
      %v_39 = arith.extsi %v_36 : tensor<32xi32> to tensor<32xi64>
      %v_40 = arith.extsi %v_38 : tensor<32xi32> to tensor<32xi64>
      %v_41 = arith.addi %v_39, %v_40 : tensor<32xi64>
      %v_42 = arith.constant 2147483647 : i64
      %v_43 = arith.constant -2147483648 : i64
      %v_44 = arith.constant dense<2147483647> : tensor<32xi64>
      %v_45 = arith.cmpi sle, %v_41, %v_44 : tensor<32xi64>
      %v_46 = arith.constant dense<-2147483648> : tensor<32xi64>
      %v_47 = arith.cmpi sge, %v_41, %v_46 : tensor<32xi64>
      %v_48 = arith.andi %v_45, %v_47 : tensor<32xi1>
      %v_49 = arith.addi %v_36, %v_38 : tensor<32xi32>
      %j_50 = tt.call @kernels.far__i32_i32__(%j_37, %n) : (i32, i32) -> i32
      %j_51 = arith.constant 2 : i32
      %j_52 = arith.constant 2 : i32
      %j_53 = arith.divsi %j_50, %j_52 : i32
      %j_54 = arith.constant 1 : i32
      %j_55 = arith.constant 1 : i32
      %j_56 = arith.extsi %j_53 : i32 to i64
      %j_57 = arith.extsi %j_55 : i32 to i64
      %j_58 = arith.addi %j_56, %j_57 : i64
      %j_59 = arith.constant 2147483647 : i64
      %j_60 = arith.constant -2147483648 : i64
      %j_61 = arith.cmpi sle, %j_58, %j_59 : i64
      %j_62 = arith.cmpi sge, %j_58, %j_60 : i64
      %j_63 = arith.andi %j_61, %j_62 : i1
      %j_64 = arith.addi %j_53, %j_55 : i32
      %j_65 = arith.extsi %j_37 : i32 to i64
      %j_66 = arith.extsi %j_64 : i32 to i64
      %j_67 = arith.addi %j_65, %j_66 : i64
      %j_68 = arith.constant 2147483647 : i64
      %j_69 = arith.constant -2147483648 : i64
      %j_70 = arith.cmpi sle, %j_67, %j_68 : i64
      %j_71 = arith.cmpi sge, %j_67, %j_69 : i64
      %j_72 = arith.andi %j_70, %j_71 : i1
      %j_73 = arith.addi %j_37, %j_64 : i32
      scf.yield %v_49, %j_73 : tensor<32xi32>, i32
    }
    %s = tt.call @"triton.language.standard.sum__i32S32S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%j_33#0) : (tensor<32xi32>) -> i32
    %c100_i32 = arith.constant 100 : i32
    %8 = arith.cmpi sgt, %s, %c100_i32 : i32
    %v_34 = scf.if %8 -> (tensor<32xi32>) {
      %v_36 = tt.splat %s : i32 -> tensor<32xi32>
      %v_37 = arith.extsi %j_33#0 : tensor<32xi32> to tensor<32xi64>
      %v_38 = arith.extsi %v_36 : tensor<32xi32> to tensor<32xi64>
      %v_39 = arith.subi %v_37, %v_38 : tensor<32xi64>
      %v_40 = arith.constant 2147483647 : i64
      %v_41 = arith.constant -2147483648 : i64
      %v_42 = arith.constant dense<2147483647> : tensor<32xi64>
      %v_43 = arith.cmpi sle, %v_39, %v_42 : tensor<32xi64>
      %v_44 = arith.constant dense<-2147483648> : tensor<32xi64>
      %v_45 = arith.cmpi sge, %v_39, %v_44 : tensor<32xi64>
      %v_46 = arith.andi %v_43, %v_45 : tensor<32xi1>
      %v_47 = arith.subi %j_33#0, %v_36 : tensor<32xi32>
      scf.yield %v_47 : tensor<32xi32>
    } else {
      %c-100_i32 = arith.constant -100 : i32
      %17 = arith.cmpi slt, %s, %c-100_i32 : i32
      %v_36 = scf.if %17 -> (tensor<32xi32>) {
        %v_37 = tt.splat %s : i32 -> tensor<32xi32>
        %v_38 = arith.extsi %j_33#0 : tensor<32xi32> to tensor<32xi64>
        %v_39 = arith.extsi %v_37 : tensor<32xi32> to tensor<32xi64>
        %v_40 = arith.addi %v_38, %v_39 : tensor<32xi64>
        %v_41 = arith.constant 2147483647 : i64
        %v_42 = arith.constant -2147483648 : i64
        %v_43 = arith.constant dense<2147483647> : tensor<32xi64>
        %v_44 = arith.cmpi sle, %v_40, %v_43 : tensor<32xi64>
        %v_45 = arith.constant dense<-2147483648> : tensor<32xi64>
        %v_46 = arith.cmpi sge, %v_40, %v_45 : tensor<32xi64>
        %v_47 = arith.andi %v_44, %v_46 : tensor<32xi1>
        %v_48 = arith.addi %j_33#0, %v_37 : tensor<32xi32>
        scf.yield %v_48 : tensor<32xi32>
      } else {
        %v_37 = arith.constant 3 : i32
        %v_38 = arith.constant 3 : i32
        %v_39 = arith.constant dense<3> : tensor<32xi32>
        %v_40 = arith.extsi %j_33#0 : tensor<32xi32> to tensor<32xi64>
        %v_41 = arith.extsi %v_39 : tensor<32xi32> to tensor<32xi64>
        %v_42 = arith.muli %v_40, %v_41 : tensor<32xi64>
        %v_43 = arith.constant 2147483647 : i64
        %v_44 = arith.constant -2147483648 : i64
        %v_45 = arith.constant dense<2147483647> : tensor<32xi64>
        %v_46 = arith.cmpi sle, %v_42, %v_45 : tensor<32xi64>
        %v_47 = arith.constant dense<-2147483648> : tensor<32xi64>
        %v_48 = arith.cmpi sge, %v_42, %v_47 : tensor<32xi64>
        %v_49 = arith.andi %v_46, %v_48 : tensor<32xi1>
        %v_50 = arith.muli %j_33#0, %v_39 : tensor<32xi32>
        scf.yield %v_50 : tensor<32xi32>
      }
      scf.yield %v_36 : tensor<32xi32>
    }
    %c0_i32 = arith.constant 0 : i32
    %c10_i32 = arith.constant 10 : i32
    %c1_i32 = arith.constant 1 : i32
    %9 = arith.bitcast %c0_i32 : i32 to i32
    %10 = arith.bitcast %c10_i32 : i32 to i32
    %11 = arith.bitcast %c1_i32 : i32 to i32
    %12 = ub.poison : i32
    %v_35 = scf.for %i = %9 to %10 step %11 iter_args(%v_36 = %v_34) -> (tensor<32xi32>)  : i32 {
      %c5_i32 = arith.constant 5 : i32
      %17 = arith.cmpi eq, %i, %c5_i32 : i32
      %18 = scf.if %17 -> (tensor<32xi32>) {
        %v_37 = tt.splat %i : i32 -> tensor<32xi32>
        %v_38 = arith.extsi %v_36 : tensor<32xi32> to tensor<32xi64>
        %v_39 = arith.extsi %v_37 : tensor<32xi32> to tensor<32xi64>
        %v_40 = arith.addi %v_38, %v_39 : tensor<32xi64>
        %v_41 = arith.constant 2147483647 : i64
        %v_42 = arith.constant -2147483648 : i64
        %v_43 = arith.constant dense<2147483647> : tensor<32xi64>
        %v_44 = arith.cmpi sle, %v_40, %v_43 : tensor<32xi64>
        %v_45 = arith.constant dense<-2147483648> : tensor<32xi64>
        %v_46 = arith.cmpi sge, %v_40, %v_45 : tensor<32xi64>
        %v_47 = arith.andi %v_44, %v_46 : tensor<32xi1>
        %v_48 = arith.addi %v_36, %v_37 : tensor<32xi32>
        scf.yield %v_48 : tensor<32xi32>
      } else {
        scf.yield %v_36 : tensor<32xi32>
      }
      scf.yield %18 : tensor<32xi32>
    }
    %13 = tt.splat %n : i32 -> tensor<32xi32>
    %14 = arith.cmpi slt, %offs_23, %13 : tensor<32xi32>
    %15 = tt.splat %o : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %16 = tt.addptr %15, %offs_23 : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    tt.store %16, %v_35, %14 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
  tt.func private @"kernels.helper__i32S32S__(1,)cconstexpr_1_"(%v: tensor<32xi32>) -> tensor<32xi32> attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32
    %c1_i32_0 = arith.constant 1 : i32
    %cst = arith.constant dense<1> : tensor<32xi32>
    %0 = arith.extsi %v : tensor<32xi32> to tensor<32xi64>
    %1 = arith.extsi %cst : tensor<32xi32> to tensor<32xi64>
    %2 = arith.addi %0, %1 : tensor<32xi64>
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %cst_1 = arith.constant dense<2147483647> : tensor<32xi64>
    %3 = arith.cmpi sle, %2, %cst_1 : tensor<32xi64>
    %cst_2 = arith.constant dense<-2147483648> : tensor<32xi64>
    %4 = arith.cmpi sge, %2, %cst_2 : tensor<32xi64>
    %5 = arith.andi %3, %4 : tensor<32xi1>
    %6 = arith.addi %v, %cst : tensor<32xi32>
    tt.return %6 : tensor<32xi32>
  ^bb1:  // no predecessors
    %7 = ub.poison : tensor<32xi32>
    tt.return %7 : tensor<32xi32>
  }
  tt.func private @"kernels.helper__i32S32S__(1,)cconstexpr_2_"(%v: tensor<32xi32>) -> tensor<32xi32> attributes {noinline = false} {
    %c2_i32 = arith.constant 2 : i32
    %c2_i32_0 = arith.constant 2 : i32
    %cst = arith.constant dense<2> : tensor<32xi32>
    %0 = arith.extsi %v : tensor<32xi32> to tensor<32xi64>
    %1 = arith.extsi %cst : tensor<32xi32> to tensor<32xi64>
    %2 = arith.addi %0, %1 : tensor<32xi64>
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %cst_1 = arith.constant dense<2147483647> : tensor<32xi64>
    %3 = arith.cmpi sle, %2, %cst_1 : tensor<32xi64>
    %cst_2 = arith.constant dense<-2147483648> : tensor<32xi64>
    %4 = arith.cmpi sge, %2, %cst_2 : tensor<32xi64>
    %5 = arith.andi %3, %4 : tensor<32xi1>
    %6 = arith.addi %v, %cst : tensor<32xi32>
    tt.return %6 : tensor<32xi32>
  ^bb1:  // no predecessors
    %7 = ub.poison : tensor<32xi32>
    tt.return %7 : tensor<32xi32>
  }
  tt.func private @"kernels.helper__i32S32S__(1,)cconstexpr_3_"(%v: tensor<32xi32>) -> tensor<32xi32> attributes {noinline = false} {
    %c3_i32 = arith.constant 3 : i32
    %c3_i32_0 = arith.constant 3 : i32
    %cst = arith.constant dense<3> : tensor<32xi32>
    %0 = arith.extsi %v : tensor<32xi32> to tensor<32xi64>
    %1 = arith.extsi %cst : tensor<32xi32> to tensor<32xi64>
    %2 = arith.muli %0, %1 : tensor<32xi64>
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %cst_1 = arith.constant dense<2147483647> : tensor<32xi64>
    %3 = arith.cmpi sle, %2, %cst_1 : tensor<32xi64>
    %cst_2 = arith.constant dense<-2147483648> : tensor<32xi64>
    %4 = arith.cmpi sge, %2, %cst_2 : tensor<32xi64>
    %5 = arith.andi %3, %4 : tensor<32xi1>
    %6 = arith.muli %v, %cst : tensor<32xi32>
    tt.return %6 : tensor<32xi32>
  ^bb1:  // no predecessors
    %c3_i32_3 = arith.constant 3 : i32
    %c3_i32_4 = arith.constant 3 : i32
    %cst_5 = arith.constant dense<3> : tensor<32xi32>
    %7 = arith.extsi %v : tensor<32xi32> to tensor<32xi64>
    %8 = arith.extsi %cst_5 : tensor<32xi32> to tensor<32xi64>
    %9 = arith.addi %7, %8 : tensor<32xi64>
    %c2147483647_i64_6 = arith.constant 2147483647 : i64
    %c-2147483648_i64_7 = arith.constant -2147483648 : i64
    %cst_8 = arith.constant dense<2147483647> : tensor<32xi64>
    %10 = arith.cmpi sle, %9, %cst_8 : tensor<32xi64>
    %cst_9 = arith.constant dense<-2147483648> : tensor<32xi64>
    %11 = arith.cmpi sge, %9, %cst_9 : tensor<32xi64>
    %12 = arith.andi %10, %11 : tensor<32xi1>
    %13 = arith.addi %v, %cst_5 : tensor<32xi32>
    tt.return %13 : tensor<32xi32>
  ^bb2:  // no predecessors
    %14 = ub.poison : tensor<32xi32>
    tt.return %14 : tensor<32xi32>
  }
  tt.func private @kernels.far__i32_i32__(%a: i32, %b: i32) -> i32 attributes {noinline = true} {
    %0 = arith.cmpi sgt, %a, %b : i32
    cf.cond_br %0, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %1 = arith.extsi %a : i32 to i64
    %2 = arith.extsi %b : i32 to i64
    %3 = arith.subi %1, %2 : i64
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %4 = arith.cmpi sle, %3, %c2147483647_i64 : i64
    %5 = arith.cmpi sge, %3, %c-2147483648_i64 : i64
    %6 = arith.andi %4, %5 : i1
    %7 = arith.subi %a, %b : i32
    tt.return %7 : i32
  ^bb2:  // pred: ^bb0
    cf.br ^bb4
  ^bb3:  // no predecessors
    cf.br ^bb4
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %8 = arith.extsi %b : i32 to i64
    %9 = arith.extsi %a : i32 to i64
    %10 = arith.subi %8, %9 : i64
    %c2147483647_i64_0 = arith.constant 2147483647 : i64
    %c-2147483648_i64_1 = arith.constant -2147483648 : i64
    %11 = arith.cmpi sle, %10, %c2147483647_i64_0 : i64
    %12 = arith.cmpi sge, %10, %c-2147483648_i64_1 : i64
    %13 = arith.andi %11, %12 : i1
    %14 = arith.subi %b, %a : i32
    tt.return %14 : i32
  ^bb5:  // no predecessors
    %15 = ub.poison : i32
    tt.return %15 : i32
  }
  tt.func private @"triton.language.standard.sum__i32S32S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%input: tensor<32xi32>) -> i32 attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 0 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %2 = tt.call @triton.language.standard._sum_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %2 : i32
    }) : (tensor<32xi32>) -> i32
    tt.return %0 : i32
  ^bb1:  // no predecessors
    %1 = ub.poison : i32
    tt.return %1 : i32
  }
  tt.func private @triton.language.standard._sum_combine__i32_i32__(%a: i32, %b: i32) -> i32 attributes {noinline = false} {
    %0 = arith.extsi %a : i32 to i64
    %1 = arith.extsi %b : i32 to i64
    %2 = arith.addi %0, %1 : i64
    %c2147483647_i64 = arith.constant 2147483647 : i64
    %c-2147483648_i64 = arith.constant -2147483648 : i64
    %3 = arith.cmpi sle, %2, %c2147483647_i64 : i64
    %4 = arith.cmpi sge, %2, %c-2147483648_i64 : i64
    %5 = arith.andi %3, %4 : i1
    %6 = arith.addi %a, %b : i32
    tt.return %6 : i32
  ^bb1:  // no predecessors
    %7 = ub.poison : i32
    tt.return %7 : i32
  }
}
