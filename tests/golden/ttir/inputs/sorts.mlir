// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @sorts(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) attributes {noinline = false} {
    %offs = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %0 = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %1 = tt.addptr %0, %offs : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %2 = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %3 = tt.addptr %2, %offs : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %4 = tt.load %3 : tensor<64x!tt.ptr<i32>>
    %5 = tt.call @"triton.language.standard.sort__i32S64S__(1,)cNone_(2,)cconstexpr_True_"(%4) : (tensor<64xi32>) -> tensor<64xi32>
    tt.store %1, %5 : tensor<64x!tt.ptr<i32>>
    tt.return
  }
  tt.func private @"triton.language.standard.sort__i32S64S__(1,)cNone_(2,)cconstexpr_True_"(%x: tensor<64xi32>) -> tensor<64xi32> attributes {noinline = false} {
    %0 = tt.call @"triton.language.standard.sort_impl__i32S64S__(1,)cNone_(2,)cconstexpr_None__(3,)cconstexpr_True_"(%x) : (tensor<64xi32>) -> tensor<64xi32>
    tt.return %0 : tensor<64xi32>
  ^bb1:  // no predecessors
    %1 = ub.poison : tensor<64xi32>
    tt.return %1 : tensor<64xi32>
  }
  tt.func private @"triton.language.standard.sort_impl__i32S64S__(1,)cNone_(2,)cconstexpr_None__(3,)cconstexpr_True_"(%x: tensor<64xi32>) -> tensor<64xi32> attributes {noinline = false} {
    %h = tt.reshape %x : tensor<64xi32> -> tensor<2x2x2x2x2x2xi32>
    %h_0 = tt.call @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_1__(2,)cconstexpr_2_"(%h) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32>
    %h_1 = tt.call @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_2__(2,)cconstexpr_2_"(%h_0) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32>
    %h_2 = tt.call @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_2_"(%h_1) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32>
    %h_3 = tt.call @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_2_"(%h_2) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32>
    %h_4 = tt.call @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_2_"(%h_3) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32>
    %h_5 = tt.call @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_6__(2,)cconstexpr_True_"(%h_4) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_6 = tt.reshape %h_5 : tensor<2x2x2x2x2x2xi32> -> tensor<64xi32>
    tt.return %x_6 : tensor<64xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<64xi32>
    tt.return %0 : tensor<64xi32>
  }
  tt.func private @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_1__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %flip = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() : () -> tensor<1x1x1x1x2x1xi32>
    %x_0 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_1_1_2_1S__(2,)cconstexpr_0_"(%x, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x1x1x1x2x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    tt.return %x_0 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() -> tensor<1x1x1x1x2x1xi32> attributes {noinline = false} {
    %ar = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %ar_0 = tt.reshape %ar : tensor<2xi32> -> tensor<1x1x1x1x2x1xi32>
    tt.return %ar_0 : tensor<1x1x1x1x2x1xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<1x1x1x1x2x1xi32>
    tt.return %0 : tensor<1x1x1x1x2x1xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_1_1_2_1S__(2,)cconstexpr_0_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x1x1x1x2x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() : () -> tensor<1x1x1x1x1x2xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x1x1x1x2x1xi32> -> tensor<1x1x1x1x2x2xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x1x2xi32> -> tensor<1x1x1x1x2x2xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x1x1x1x2x2xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x1x1x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%input: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 5 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %3 = tt.call @triton.language.standard._xor_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %3 : i32
    }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
    %1 = tt.expand_dims %0 {axis = 5 : i32} : tensor<2x2x2x2x2xi32> -> tensor<2x2x2x2x2x1xi32>
    tt.return %1 : tensor<2x2x2x2x2x1xi32>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<2x2x2x2x2x1xi32>
    tt.return %2 : tensor<2x2x2x2x2x1xi32>
  }
  tt.func private @triton.language.standard._xor_combine__i32_i32__(%a: i32, %b: i32) -> i32 attributes {noinline = false} {
    %0 = arith.xori %a, %b : i32
    tt.return %0 : i32
  ^bb1:  // no predecessors
    %1 = ub.poison : i32
    tt.return %1 : i32
  }
  tt.func private @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() -> tensor<1x1x1x1x1x2xi32> attributes {noinline = false} {
    %ar = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %ar_0 = tt.reshape %ar : tensor<2xi32> -> tensor<1x1x1x1x1x2xi32>
    tt.return %ar_0 : tensor<1x1x1x1x1x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<1x1x1x1x1x2xi32>
    tt.return %0 : tensor<1x1x1x1x1x2xi32>
  }
  tt.func private @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_2__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %flip = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_2_"() : () -> tensor<1x1x1x2x1x1xi32>
    %x_0 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_1_2_1_1S__(2,)cconstexpr_1_"(%x, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x1x1x2x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_1 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_1_2_1_1S__(2,)cconstexpr_0_"(%x_0, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x1x1x2x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    tt.return %x_1 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_2_"() -> tensor<1x1x1x2x1x1xi32> attributes {noinline = false} {
    %ar = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %ar_0 = tt.reshape %ar : tensor<2xi32> -> tensor<1x1x1x2x1x1xi32>
    tt.return %ar_0 : tensor<1x1x1x2x1x1xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<1x1x1x2x1x1xi32>
    tt.return %0 : tensor<1x1x1x2x1x1xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_1_2_1_1S__(2,)cconstexpr_1_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x1x1x2x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x1x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() : () -> tensor<1x1x1x1x2x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x1x1x2x1x1xi32> -> tensor<1x1x1x2x2x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x2x1xi32> -> tensor<1x1x1x2x2x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x1x1x2x2x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x1x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_True_"(%input: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x1x2xi32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 4 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %3 = tt.call @triton.language.standard._xor_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %3 : i32
    }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
    %1 = tt.expand_dims %0 {axis = 4 : i32} : tensor<2x2x2x2x2xi32> -> tensor<2x2x2x2x1x2xi32>
    tt.return %1 : tensor<2x2x2x2x1x2xi32>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<2x2x2x2x1x2xi32>
    tt.return %2 : tensor<2x2x2x2x1x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_1_2_1_1S__(2,)cconstexpr_0_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x1x1x2x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() : () -> tensor<1x1x1x1x1x2xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x1x1x2x1x1xi32> -> tensor<1x1x1x2x1x2xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x1x2xi32> -> tensor<1x1x1x2x1x2xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x1x1x2x1x2xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x1x2x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %flip = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_3_"() : () -> tensor<1x1x2x1x1x1xi32>
    %x_0 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_2_1_1_1S__(2,)cconstexpr_2_"(%x, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x1x2x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_1 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_2_1_1_1S__(2,)cconstexpr_1_"(%x_0, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x1x2x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_2 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_2_1_1_1S__(2,)cconstexpr_0_"(%x_1, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x1x2x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    tt.return %x_2 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_3_"() -> tensor<1x1x2x1x1x1xi32> attributes {noinline = false} {
    %ar = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %ar_0 = tt.reshape %ar : tensor<2xi32> -> tensor<1x1x2x1x1x1xi32>
    tt.return %ar_0 : tensor<1x1x2x1x1x1xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<1x1x2x1x1x1xi32>
    tt.return %0 : tensor<1x1x2x1x1x1xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_2_1_1_1S__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x1x2x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x1x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x1x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_2_"() : () -> tensor<1x1x1x2x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x1x2x1x1x1xi32> -> tensor<1x1x2x2x1x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x2x1x1xi32> -> tensor<1x1x2x2x1x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x1x2x2x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x2x2x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_True_"(%input: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x1x2x2xi32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 3 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %3 = tt.call @triton.language.standard._xor_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %3 : i32
    }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
    %1 = tt.expand_dims %0 {axis = 3 : i32} : tensor<2x2x2x2x2xi32> -> tensor<2x2x2x1x2x2xi32>
    tt.return %1 : tensor<2x2x2x1x2x2xi32>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<2x2x2x1x2x2xi32>
    tt.return %2 : tensor<2x2x2x1x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_2_1_1_1S__(2,)cconstexpr_1_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x1x2x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x1x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() : () -> tensor<1x1x1x1x2x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x1x2x1x1x1xi32> -> tensor<1x1x2x1x2x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x2x1xi32> -> tensor<1x1x2x1x2x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x1x2x1x2x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x2x1x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_1_2_1_1_1S__(2,)cconstexpr_0_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x1x2x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() : () -> tensor<1x1x1x1x1x2xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x1x2x1x1x1xi32> -> tensor<1x1x2x1x1x2xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x1x2xi32> -> tensor<1x1x2x1x1x2xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x1x2x1x1x2xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x2x1x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %flip = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_4_"() : () -> tensor<1x2x1x1x1x1xi32>
    %x_0 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_3_"(%x, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_1 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_2_"(%x_0, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_2 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_1_"(%x_1, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_3 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_0_"(%x_2, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    tt.return %x_3 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_4_"() -> tensor<1x2x1x1x1x1xi32> attributes {noinline = false} {
    %ar = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %ar_0 = tt.reshape %ar : tensor<2xi32> -> tensor<1x2x1x1x1x1xi32>
    tt.return %ar_0 : tensor<1x2x1x1x1x1xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<1x2x1x1x1x1xi32>
    tt.return %0 : tensor<1x2x1x1x1x1xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_3_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_2__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x1x2x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x1x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_3_"() : () -> tensor<1x1x2x1x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x2x1x1x1x1xi32> -> tensor<1x2x2x1x1x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x2x1x1x1xi32> -> tensor<1x2x2x1x1x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x2x2x1x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x2x2x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_2__(2,)cconstexpr_True_"(%input: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x1x2x2x2xi32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 2 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %3 = tt.call @triton.language.standard._xor_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %3 : i32
    }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
    %1 = tt.expand_dims %0 {axis = 2 : i32} : tensor<2x2x2x2x2xi32> -> tensor<2x2x1x2x2x2xi32>
    tt.return %1 : tensor<2x2x1x2x2x2xi32>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<2x2x1x2x2x2xi32>
    tt.return %2 : tensor<2x2x1x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x1x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x1x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_2_"() : () -> tensor<1x1x1x2x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x2x1x1x1x1xi32> -> tensor<1x2x1x2x1x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x2x1x1xi32> -> tensor<1x2x1x2x1x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x2x1x2x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x2x1x2x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_1_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x1x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() : () -> tensor<1x1x1x1x2x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x2x1x1x1x1xi32> -> tensor<1x2x1x1x2x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x2x1xi32> -> tensor<1x2x1x1x2x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x2x1x1x2x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x2x1x1x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S1_2_1_1_1_1S__(2,)cconstexpr_0_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<1x2x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() : () -> tensor<1x1x1x1x1x2xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<1x2x1x1x1x1xi32> -> tensor<1x2x1x1x1x2xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x1x2xi32> -> tensor<1x2x1x1x1x2xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<1x2x1x1x1x2xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x2x1x1x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %flip = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_5_"() : () -> tensor<2x1x1x1x1x1xi32>
    %x_0 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_4_"(%x, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_1 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_3_"(%x_0, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_2 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_2_"(%x_1, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_3 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_1_"(%x_2, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    %x_4 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_0_"(%x_3, %flip) : (tensor<2x2x2x2x2x2xi32>, tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32>
    tt.return %x_4 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_5_"() -> tensor<2x1x1x1x1x1xi32> attributes {noinline = false} {
    %ar = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %ar_0 = tt.reshape %ar : tensor<2xi32> -> tensor<2x1x1x1x1x1xi32>
    tt.return %ar_0 : tensor<2x1x1x1x1x1xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x1x1x1x1x1xi32>
    tt.return %0 : tensor<2x1x1x1x1x1xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_4_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_1__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x1x2x2x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x1x2x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_4_"() : () -> tensor<1x2x1x1x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<2x1x1x1x1x1xi32> -> tensor<2x2x1x1x1x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x2x1x1x1x1xi32> -> tensor<2x2x1x1x1x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<2x2x1x1x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<2x2x1x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_1__(2,)cconstexpr_True_"(%input: tensor<2x2x2x2x2x2xi32>) -> tensor<2x1x2x2x2x2xi32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 1 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %3 = tt.call @triton.language.standard._xor_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %3 : i32
    }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<2x2x2x2x2xi32> -> tensor<2x1x2x2x2x2xi32>
    tt.return %1 : tensor<2x1x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<2x1x2x2x2x2xi32>
    tt.return %2 : tensor<2x1x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_3_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_2__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x1x2x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x1x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_3_"() : () -> tensor<1x1x2x1x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<2x1x1x1x1x1xi32> -> tensor<2x1x2x1x1x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x2x1x1x1xi32> -> tensor<2x1x2x1x1x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<2x1x2x1x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<2x1x2x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x1x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x1x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_2_"() : () -> tensor<1x1x1x2x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<2x1x1x1x1x1xi32> -> tensor<2x1x1x2x1x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x2x1x1xi32> -> tensor<2x1x1x2x1x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<2x1x1x2x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<2x1x1x2x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_1_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x1x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() : () -> tensor<1x1x1x1x2x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<2x1x1x1x1x1xi32> -> tensor<2x1x1x1x2x1xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x2x1xi32> -> tensor<2x1x1x1x2x1xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<2x1x1x1x2x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<2x1x1x1x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_i32S2_1_1_1_1_1S__(2,)cconstexpr_0_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: tensor<2x1x1x1x1x1xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() : () -> tensor<1x1x1x1x1x2xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = tt.broadcast %flip : tensor<2x1x1x1x1x1xi32> -> tensor<2x1x1x1x1x2xi32>
    %ret_3 = tt.broadcast %is_right : tensor<1x1x1x1x1x2xi32> -> tensor<2x1x1x1x1x2xi32>
    %ret_4 = arith.xori %ret_2, %ret_3 : tensor<2x1x1x1x1x2xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<2x1x1x1x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._bitonic_merge_hypercube__i32S2_2_2_2_2_2S__(1,)cconstexpr_6__(2,)cconstexpr_True_"(%x: tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %flip = arith.constant true
    %x_0 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_5_"(%x, %flip) : (tensor<2x2x2x2x2x2xi32>, i1) -> tensor<2x2x2x2x2x2xi32>
    %x_1 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_4_"(%x_0, %flip) : (tensor<2x2x2x2x2x2xi32>, i1) -> tensor<2x2x2x2x2x2xi32>
    %x_2 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_3_"(%x_1, %flip) : (tensor<2x2x2x2x2x2xi32>, i1) -> tensor<2x2x2x2x2x2xi32>
    %x_3 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_2_"(%x_2, %flip) : (tensor<2x2x2x2x2x2xi32>, i1) -> tensor<2x2x2x2x2x2xi32>
    %x_4 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_1_"(%x_3, %flip) : (tensor<2x2x2x2x2x2xi32>, i1) -> tensor<2x2x2x2x2x2xi32>
    %x_5 = tt.call @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_0_"(%x_4, %flip) : (tensor<2x2x2x2x2x2xi32>, i1) -> tensor<2x2x2x2x2x2xi32>
    tt.return %x_5 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_5_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: i1) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_0__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<1x2x2x2x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<1x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_5_"() : () -> tensor<2x1x1x1x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = arith.extui %flip : i1 to i32
    %ret_3 = tt.splat %ret_2 : i32 -> tensor<2x1x1x1x1x1xi32>
    %ret_4 = arith.xori %ret_3, %is_right : tensor<2x1x1x1x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<2x1x1x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_0__(2,)cconstexpr_True_"(%input: tensor<2x2x2x2x2x2xi32>) -> tensor<1x2x2x2x2x2xi32> attributes {noinline = false} {
    %0 = "tt.reduce"(%input) <{axis = 0 : i32}> ({
    ^bb0(%arg1: i32, %arg2: i32):
      %3 = tt.call @triton.language.standard._xor_combine__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32
      tt.reduce.return %3 : i32
    }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<2x2x2x2x2xi32> -> tensor<1x2x2x2x2x2xi32>
    tt.return %1 : tensor<1x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<1x2x2x2x2x2xi32>
    tt.return %2 : tensor<1x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_4_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: i1) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_1__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x1x2x2x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x1x2x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_4_"() : () -> tensor<1x2x1x1x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = arith.extui %flip : i1 to i32
    %ret_3 = tt.splat %ret_2 : i32 -> tensor<1x2x1x1x1x1xi32>
    %ret_4 = arith.xori %ret_3, %is_right : tensor<1x2x1x1x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x2x1x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_3_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: i1) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_2__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x1x2x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x1x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_3_"() : () -> tensor<1x1x2x1x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = arith.extui %flip : i1 to i32
    %ret_3 = tt.splat %ret_2 : i32 -> tensor<1x1x2x1x1x1xi32>
    %ret_4 = arith.xori %ret_3, %is_right : tensor<1x1x2x1x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x2x1x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_2_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: i1) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_3__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x1x2x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x1x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_2_"() : () -> tensor<1x1x1x2x1x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = arith.extui %flip : i1 to i32
    %ret_3 = tt.splat %ret_2 : i32 -> tensor<1x1x1x2x1x1xi32>
    %ret_4 = arith.xori %ret_3, %is_right : tensor<1x1x1x2x1x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x1x2x1x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_1_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: i1) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_4__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x1x2xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_1_"() : () -> tensor<1x1x1x1x2x1xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = arith.extui %flip : i1 to i32
    %ret_3 = tt.splat %ret_2 : i32 -> tensor<1x1x1x1x2x1xi32>
    %ret_4 = arith.xori %ret_3, %is_right : tensor<1x1x1x1x2x1xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x1x1x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
  tt.func private @"triton.language.standard._compare_and_swap__i32S2_2_2_2_2_2S_u1__(2,)cconstexpr_0_"(%x: tensor<2x2x2x2x2x2xi32>, %flip: i1) -> tensor<2x2x2x2x2x2xi32> attributes {noinline = false} {
    %iy = tt.call @"triton.language.standard.xor_sum__i32S2_2_2_2_2_2S__(1,)cconstexpr_5__(2,)cconstexpr_True_"(%x) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x1xi32>
    %iy_0 = tt.broadcast %iy : tensor<2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2xi32>
    %iy_1 = arith.xori %x, %iy_0 : tensor<2x2x2x2x2x2xi32>
    %is_right = tt.call @"triton.language.standard._indicator____(0,)cconstexpr_6__(1,)cconstexpr_0_"() : () -> tensor<1x1x1x1x1x2xi32>
    %ret = arith.cmpi sgt, %x, %iy_1 : tensor<2x2x2x2x2x2xi32>
    %ret_2 = arith.extui %flip : i1 to i32
    %ret_3 = tt.splat %ret_2 : i32 -> tensor<1x1x1x1x1x2xi32>
    %ret_4 = arith.xori %ret_3, %is_right : tensor<1x1x1x1x1x2xi32>
    %ret_5 = arith.extui %ret : tensor<2x2x2x2x2x2xi1> to tensor<2x2x2x2x2x2xi32>
    %ret_6 = tt.broadcast %ret_4 : tensor<1x1x1x1x1x2xi32> -> tensor<2x2x2x2x2x2xi32>
    %ret_7 = arith.cmpi ne, %ret_5, %ret_6 : tensor<2x2x2x2x2x2xi32>
    %ret_8 = arith.select %ret_7, %iy_1, %x : tensor<2x2x2x2x2x2xi1>, tensor<2x2x2x2x2x2xi32>
    tt.return %ret_8 : tensor<2x2x2x2x2x2xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<2x2x2x2x2x2xi32>
    tt.return %0 : tensor<2x2x2x2x2x2xi32>
  }
}
