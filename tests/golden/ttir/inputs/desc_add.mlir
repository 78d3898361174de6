// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @desc_add(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %M: i32, %N: i32) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32
    %d = arith.extsi %N : i32 to i64
    %d_0 = arith.constant 1 : i64
    %d_1 = tt.make_tensor_descriptor %x, [%M, %N], [%d, %d_0] : <f32>, <tensor<16x32xf32>>
    %e = arith.extsi %N : i32 to i64
    %e_2 = arith.constant 1 : i64
    %e_3 = tt.make_tensor_descriptor %o, [%M, %N], [%e, %e_2] : <f32>, <tensor<16x32xf32>>
    %c0_i32 = arith.constant 0 : i32
    %c32_i32 = arith.constant 32 : i32
    %0 = arith.bitcast %c0_i32 : i32 to i32
    %1 = arith.bitcast %N : i32 to i32
    %2 = arith.bitcast %c32_i32 : i32 to i32
    %3 = ub.poison : i32
    scf.for %i = %0 to %1 step %2  : i32 {
      %v = arith.constant 16 : i32
      %v_4 = arith.constant 16 : i32
      %v_5 = arith.extsi %pid : i32 to i64
      %v_6 = arith.extsi %v_4 : i32 to i64
      %v_7 = arith.muli %v_5, %v_6 : i64
      %v_8 = arith.constant 2147483647 : i64
      %v_9 = arith.constant -2147483648 : i64
      %v_10 = arith.cmpi sle, %v_7, %v_8 : i64
      %v_11 = arith.cmpi sge, %v_7, %v_9 : i64
      %v_12 = arith.andi %v_10, %v_11 : i1
      %v_13 = arith.muli %pid, %v_4 : i32
      %v_14 = tt.descriptor_load %d_1[%v_13, %i] : !tt.tensordesc<tensor<16x32xf32>> -> tensor<16x32xf32>
      %c16_i32 = arith.constant 16 : i32
      %c16_i32_15 = arith.constant 16 : i32
      %4 = arith.extsi %pid : i32 to i64
      %5 = arith.extsi %c16_i32_15 : i32 to i64
      %6 = arith.muli %4, %5 : i64
      %c2147483647_i64 = arith.constant 2147483647 : i64
      %c-2147483648_i64 = arith.constant -2147483648 : i64
      %7 = arith.cmpi sle, %6, %c2147483647_i64 : i64
      %8 = arith.cmpi sge, %6, %c-2147483648_i64 : i64
      %9 = arith.andi %7, %8 : i1
      %10 = arith.muli %pid, %c16_i32_15 : i32
      %c1_i32 = arith.constant 1 : i32
      %cst = arith.constant 1.000000e+00 : f32
      %cst_16 = arith.constant dense<1.000000e+00> : tensor<16x32xf32>
      %11 = arith.addf %v_14, %cst_16 : tensor<16x32xf32>
      tt.descriptor_store %e_3[%10, %i], %11 : !tt.tensordesc<tensor<16x32xf32>>, tensor<16x32xf32>
    }
    tt.return
  }
}
