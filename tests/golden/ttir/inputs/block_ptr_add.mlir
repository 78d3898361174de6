// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @block_ptr_add(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %M: i32, %N: i32) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32
    %p = arith.constant 16 : i32
    %p_0 = arith.constant 16 : i32
    %p_1 = arith.extsi %pid : i32 to i64
    %p_2 = arith.extsi %p_0 : i32 to i64
    %p_3 = arith.muli %p_1, %p_2 : i64
    %p_4 = arith.constant 2147483647 : i64
    %p_5 = arith.constant -2147483648 : i64
    %p_6 = arith.cmpi sle, %p_3, %p_4 : i64
    %p_7 = arith.cmpi sge, %p_3, %p_5 : i64
    %p_8 = arith.andi %p_6, %p_7 : i1
    %p_9 = arith.muli %pid, %p_0 : i32
    %p_10 = arith.extsi %M : i32 to i64
    %p_11 = arith.extsi %N : i32 to i64
    %p_12 = arith.extsi %N : i32 to i64
    %p_13 = arith.constant 1 : i64
    %p_14 = arith.constant 0 : i32
    %p_15 = tt.make_tensor_ptr %x, [%p_10, %p_11], [%p_12, %p_13], [%p_9, %p_14] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
    %q = arith.constant 16 : i32
    %q_16 = arith.constant 16 : i32
    %q_17 = arith.extsi %pid : i32 to i64
    %q_18 = arith.extsi %q_16 : i32 to i64
    %q_19 = arith.muli %q_17, %q_18 : i64
    %q_20 = arith.constant 2147483647 : i64
    %q_21 = arith.constant -2147483648 : i64
    %q_22 = arith.cmpi sle, %q_19, %q_20 : i64
    %q_23 = arith.cmpi sge, %q_19, %q_21 : i64
    %q_24 = arith.andi %q_22, %q_23 : i1
    %q_25 = arith.muli %pid, %q_16 : i32
    %q_26 = arith.extsi %M : i32 to i64
    %q_27 = arith.extsi %N : i32 to i64
    %q_28 = arith.extsi %N : i32 to i64
    %q_29 = arith.constant 1 : i64
    %q_30 = arith.constant 0 : i32
    %q_31 = tt.make_tensor_ptr %o, [%q_26, %q_27], [%q_28, %q_29], [%q_25, %q_30] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
    %c0_i32 = arith.constant 0 : i32
    %c32_i32 = arith.constant 32 : i32
    %0 = arith.bitcast %c0_i32 : i32 to i32
    %1 = arith.bitcast %N : i32 to i32
    %2 = arith.bitcast %c32_i32 : i32 to i32
    %3 = ub.poison : i32
    %q_32:2 = scf.for %i = %0 to %1 step %2 iter_args(%p_33 = %p_15, %q_34 = %q_31) -> (!tt.ptr<tensor<16x32xf32>>, !tt.ptr<tensor<16x32xf32>>)  : i32 {
      %v = tt.load %p_33 {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x32xf32>>
      %c2_i32 = arith.constant 2 : i32
      %cst = arith.constant 2.000000e+00 : f32
      %cst_35 = arith.constant dense<2.000000e+00> : tensor<16x32xf32>
      %4 = arith.mulf %v, %cst_35 : tensor<16x32xf32>
      %c1_i32 = arith.constant 1 : i32
      %cst_36 = arith.constant 1.000000e+00 : f32
      %cst_37 = arith.constant dense<1.000000e+00> : tensor<16x32xf32>
      %5 = arith.addf %4, %cst_37 : tensor<16x32xf32>
      tt.store %q_34, %5 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<16x32xf32>>
      %p_38 = arith.constant 0 : i32
      %p_39 = arith.constant 32 : i32
      %p_40 = tt.advance %p_33, [%p_38, %p_39] : <tensor<16x32xf32>>
      %q_41 = arith.constant 0 : i32
      %q_42 = arith.constant 32 : i32
      %q_43 = tt.advance %q_34, [%q_41, %q_42] : <tensor<16x32xf32>>
      scf.yield %p_40, %q_43 : !tt.ptr<tensor<16x32xf32>>, !tt.ptr<tensor<16x32xf32>>
    }
    tt.return
  }
}
