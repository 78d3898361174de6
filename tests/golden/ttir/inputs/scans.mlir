// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @scans(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %q: !tt.ptr<f32>) attributes {noinline = false} {
    %offs = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %v = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %v_0 = tt.addptr %v, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v_1 = tt.load %v_0 : tensor<64x!tt.ptr<f32>>
    %0 = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %1 = tt.addptr %0, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %2 = tt.call @"triton.language.standard.cumsum__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%v_1) : (tensor<64xf32>) -> tensor<64xf32>
    tt.store %1, %2 : tensor<64x!tt.ptr<f32>>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %4 = tt.addptr %3, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %5 = tt.call @"triton.language.standard.cumprod__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_True_"(%v_1) : (tensor<64xf32>) -> tensor<64xf32>
    tt.store %4, %5 : tensor<64x!tt.ptr<f32>>
    %6 = tt.call @"triton.language.standard.argmax__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_True__(3,)cconstexpr_False_"(%v_1) : (tensor<64xf32>) -> i32
    %7 = tt.addptr %q, %6 : !tt.ptr<f32>, i32
    %cst = arith.constant 1.000000e+00 : f32
    tt.store %7, %cst : !tt.ptr<f32>
    tt.return
  }
  tt.func private @"triton.language.standard.cumsum__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_False__(3,)cNone"(%input: tensor<64xf32>) -> tensor<64xf32> attributes {noinline = false} {
    %0 = "tt.scan"(%input) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = tt.call @triton.language.standard._sum_combine__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
      tt.scan.return %2 : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    tt.return %0 : tensor<64xf32>
  ^bb1:  // no predecessors
    %1 = ub.poison : tensor<64xf32>
    tt.return %1 : tensor<64xf32>
  }
  tt.func private @triton.language.standard._sum_combine__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %0 = arith.addf %a, %b : f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
  tt.func private @"triton.language.standard.cumprod__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_True_"(%input: tensor<64xf32>) -> tensor<64xf32> attributes {noinline = false} {
    %0 = "tt.scan"(%input) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = tt.call @triton.language.standard._prod_combine__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
      tt.scan.return %2 : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    tt.return %0 : tensor<64xf32>
  ^bb1:  // no predecessors
    %1 = ub.poison : tensor<64xf32>
    tt.return %1 : tensor<64xf32>
  }
  tt.func private @triton.language.standard._prod_combine__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %0 = arith.mulf %a, %b : f32
    tt.return %0 : f32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    tt.return %1 : f32
  }
  tt.func private @"triton.language.standard.argmax__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_True__(3,)cconstexpr_False_"(%input: tensor<64xf32>) -> i32 attributes {noinline = false} {
    %0:2 = tt.call @"triton.language.standard.max__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_True__(3,)cconstexpr_True__(4,)cconstexpr_False_"(%input) : (tensor<64xf32>) -> (f32, i32)
    tt.return %0#1 : i32
  ^bb1:  // no predecessors
    %1 = ub.poison : i32
    tt.return %1 : i32
  }
  tt.func private @"triton.language.standard.max__fp32S64S__(1,)cconstexpr_0__(2,)cconstexpr_True__(3,)cconstexpr_True__(4,)cconstexpr_False_"(%input: tensor<64xf32>) -> (f32, i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1:2 = "tt.reduce"(%input, %0) <{axis = 0 : i32}> ({
    ^bb0(%arg1: f32, %arg2: i32, %arg3: f32, %arg4: i32):
      %4:2 = tt.call @triton.language.standard._argmax_combine_tie_break_left__fp32_i32_fp32_i32__(%arg1, %arg2, %arg3, %arg4) : (f32, i32, f32, i32) -> (f32, i32)
      tt.reduce.return %4#0, %4#1 : f32, i32
    }) : (tensor<64xf32>, tensor<64xi32>) -> (f32, i32)
    tt.return %1#0, %1#1 : f32, i32
  ^bb1:  // no predecessors
    %2 = ub.poison : f32
    %3 = ub.poison : i32
    tt.return %2, %3 : f32, i32
  }
  tt.func private @triton.language.standard._argmax_combine_tie_break_left__fp32_i32_fp32_i32__(%value1: f32, %index1: i32, %value2: f32, %index2: i32) -> (f32, i32) attributes {noinline = false} {
    %0:2 = tt.call @"triton.language.standard._argmax_combine__fp32_i32_fp32_i32__(4,)cconstexpr_True_"(%value1, %index1, %value2, %index2) : (f32, i32, f32, i32) -> (f32, i32)
    tt.return %0#0, %0#1 : f32, i32
  ^bb1:  // no predecessors
    %1 = ub.poison : f32
    %2 = ub.poison : i32
    tt.return %1, %2 : f32, i32
  }
  tt.func private @"triton.language.standard._argmax_combine__fp32_i32_fp32_i32__(4,)cconstexpr_True_"(%value1: f32, %index1: i32, %value2: f32, %index2: i32) -> (f32, i32) attributes {noinline = false} {
    %tie = arith.cmpf oeq, %value1, %value2 : f32
    %tie_0 = arith.cmpi slt, %index1, %index2 : i32
    %tie_1 = arith.andi %tie, %tie_0 : i1
    %gt = arith.cmpf ogt, %value1, %value2 : f32
    %gt_2 = arith.ori %gt, %tie_1 : i1
    %v_ret = arith.select %gt_2, %value1, %value2 : f32
    %i_ret = arith.select %gt_2, %index1, %index2 : i32
    tt.return %v_ret, %i_ret : f32, i32
  ^bb1:  // no predecessors
    %0 = ub.poison : f32
    %1 = ub.poison : i32
    tt.return %0, %1 : f32, i32
  }
}
