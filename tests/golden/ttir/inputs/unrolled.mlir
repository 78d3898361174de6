// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @unrolled(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %offs = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc = tt.call @"triton.language.standard.zeros____(0, 0)cconstexpr_32__(1,)cconstexpr_int32_"() : () -> tensor<32xi32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = arith.bitcast %c0_i32 : i32 to i32
    %1 = arith.bitcast %n : i32 to i32
    %2 = arith.bitcast %c1_i32 : i32 to i32
    %3 = ub.poison : i32
    %acc_0 = scf.for %i = %0 to %1 step %2 iter_args(%acc_1 = %acc) -> (tensor<32xi32>)  : i32 {
      %acc_2 = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
      %acc_3 = tt.addptr %acc_2, %offs : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
      %acc_4 = tt.splat %i : i32 -> tensor<32xi32>
      %acc_5 = tt.addptr %acc_3, %acc_4 : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
      %acc_6 = tt.load %acc_5 : tensor<32x!tt.ptr<i32>>
      %acc_7 = tt.splat %i : i32 -> tensor<32xi32>
      %acc_8 = arith.extsi %acc_6 : tensor<32xi32> to tensor<32xi64>
      %acc_9 = arith.extsi %acc_7 : tensor<32xi32> to tensor<32xi64>
      %acc_10 = arith.muli %acc_8, %acc_9 : tensor<32xi64>
      %acc_11 = arith.constant 2147483647 : i64
      %acc_12 = arith.constant -2147483648 : i64
      %acc_13 = arith.constant dense<2147483647> : tensor<32xi64>
      %acc_14 = arith.cmpi sle, %acc_10, %acc_13 : tensor<32xi64>
      %acc_15 = arith.constant dense<-2147483648> : tensor<32xi64>
      %acc_16 = arith.cmpi sge, %acc_10, %acc_15 : tensor<32xi64>
      %acc_17 = arith.andi %acc_14, %acc_16 : tensor<32xi1>
      %acc_18 = arith.muli %acc_6, %acc_7 : tensor<32xi32>
      %acc_19 = arith.extsi %acc_1 : tensor<32xi32> to tensor<32xi64>
      %acc_20 = arith.extsi %acc_18 : tensor<32xi32> to tensor<32xi64>
      %acc_21 = arith.addi %acc_19, %acc_20 : tensor<32xi64>
      %acc_22 = arith.constant 2147483647 : i64
      %acc_23 = arith.constant -2147483648 : i64
      %acc_24 = arith.constant dense<2147483647> : tensor<32xi64>
      %acc_25 = arith.cmpi sle, %acc_21, %acc_24 : tensor<32xi64>
      %acc_26 = arith.constant dense<-2147483648> : tensor<32xi64>
      %acc_27 = arith.cmpi sge, %acc_21, %acc_26 : tensor<32xi64>
      %acc_28 = arith.andi %acc_25, %acc_27 : tensor<32xi1>
      %acc_29 = arith.addi %acc_1, %acc_18 : tensor<32xi32>
      scf.yield %acc_29 : tensor<32xi32>
    } {tt.loop_unroll_factor = 4 : i32}
    %4 = tt.splat %o : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %5 = tt.addptr %4, %offs : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    tt.store %5, %acc_0 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
  tt.func private @"triton.language.standard.zeros____(0, 0)cconstexpr_32__(1,)cconstexpr_int32_"() -> tensor<32xi32> attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0> : tensor<32xi32>
    tt.return %cst : tensor<32xi32>
  ^bb1:  // no predecessors
    %0 = ub.poison : tensor<32xi32>
    tt.return %0 : tensor<32xi32>
  }
}
