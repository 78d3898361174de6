// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @softmax_rows(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n_rows: i32, %n_cols: i32, %stride: i32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = tt.get_num_programs x : i32
    %2 = arith.bitcast %0 : i32 to i32
    %3 = arith.bitcast %n_rows : i32 to i32
    %4 = arith.bitcast %1 : i32 to i32
    %5 = ub.poison : i32
    scf.for %row = %2 to %3 step %4  : i32 {
      %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %v = tt.splat %n_cols : i32 -> tensor<64xi32>
      %v_0 = arith.cmpi slt, %c, %v : tensor<64xi32>
      %v_1 = arith.extsi %row : i32 to i64
      %v_2 = arith.extsi %stride : i32 to i64
      %v_3 = arith.muli %v_1, %v_2 : i64
      %v_4 = arith.constant 2147483647 : i64
      %v_5 = arith.constant -2147483648 : i64
      %v_6 = arith.cmpi sle, %v_3, %v_4 : i64
      %v_7 = arith.cmpi sge, %v_3, %v_5 : i64
      %v_8 = arith.andi %v_6, %v_7 : i1
      %v_9 = arith.muli %row, %stride : i32
      %v_10 = tt.addptr %x, %v_9 : !tt.ptr<f32>, i32
      %v_11 = tt.splat %v_10 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %v_12 = tt.addptr %v_11, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %v_13 = arith.constant 0xFF800000 : f32
      %v_14 = arith.constant dense<0xFF800000> : tensor<64xf32>
      %v_15 = tt.load %v_12, %v_0, %v_14 : tensor<64x!tt.ptr<f32>>
      %v_16 = tt.call @"triton.language.standard.max__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cconstexpr_True__(4,)cconstexpr_False_"(%v_15) : (tensor<64xf32>) -> f32
      %v_17 = tt.splat %v_16 : f32 -> tensor<64xf32>
      %v_18 = arith.subf %v_15, %v_17 : tensor<64xf32>
      %e = math.exp %v_18 : tensor<64xf32>
      %6 = tt.splat %n_cols : i32 -> tensor<64xi32>
      %7 = arith.cmpi slt, %c, %6 : tensor<64xi32>
      %8 = arith.extsi %row : i32 to i64
      %9 = arith.extsi %stride : i32 to i64
      %10 = arith.muli %8, %9 : i64
      %c2147483647_i64 = arith.constant 2147483647 : i64
      %c-2147483648_i64 = arith.constant -2147483648 : i64
      %11 = arith.cmpi sle, %10, %c2147483647_i64 : i64
      %12 = arith.cmpi sge, %10, %c-2147483648_i64 : i64
      %13 = arith.andi %11, %12 : i1
      %14 = arith.muli %row, %stride : i32
      %15 = tt.addptr %o, %14 : !tt.ptr<f32>, i32
      %16 = tt.splat %15 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %17 = tt.addptr %16, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %18 = tt.call @"triton.language.standard.sum__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%e) : (tensor<64xf32>) -> f32
      %19 = tt.splat %18 : f32 -> tensor<64xf32>
      %20 = arith.divf %e, %19 : tensor<64xf32>
      tt.store %17, %20, %7 : tensor<64x!tt.ptr<f32>>
    }
    tt.return
  }
  tt.func private @"triton.language.standard.max__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cconstexpr_True__(4,)cconstexpr_False_"(%input: tensor<64xf32>) -> f32 attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 0 : i32}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = tt.call @triton.language.standard._elementwise_max__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
      tt.reduce.return %2 : f32
    }) : (tensor<64xf32>) -> f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
  tt.func private @triton.language.standard._elementwise_max__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %0 = arith.maxnumf %a, %b : f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
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
