// What Triton 3.6's frontend gives for a kernel, before any pass; for PassesOnGoldens.
module {
  tt.func public @vadd(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32
    %offs = arith.constant 128 : i32
    %offs_0 = arith.constant 128 : i32
    %offs_1 = arith.extsi %pid : i32 to i64
    %offs_2 = arith.extsi %offs_0 : i32 to i64
    %offs_3 = arith.muli %offs_1, %offs_2 : i64
    %offs_4 = arith.constant 2147483647 : i64
    %offs_5 = arith.constant -2147483648 : i64
    %offs_6 = arith.cmpi sle, %offs_3, %offs_4 : i64
    %offs_7 = arith.cmpi sge, %offs_3, %offs_5 : i64
    %offs_8 = arith.andi %offs_6, %offs_7 : i1
    %offs_9 = arith.muli %pid, %offs_0 : i32
    %offs_10 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %offs_11 = tt.splat %offs_9 : i32 -> tensor<128xi32>
    %offs_12 = arith.extsi %offs_11 : tensor<128xi32> to tensor<128xi64>
    %offs_13 = arith.extsi %offs_10 : tensor<128xi32> to tensor<128xi64>
    %offs_14 = arith.addi %offs_12, %offs_13 : tensor<128xi64>
    %offs_15 = arith.constant 2147483647 : i64
    %offs_16 = arith.constant -2147483648 : i64
    %offs_17 = arith.constant dense<2147483647> : tensor<128xi64>
    %offs_18 = arith.cmpi sle, %offs_14, %offs_17 : tensor<128xi64>
    %offs_19 = arith.constant dense<-2147483648> : tensor<128xi64>
    %offs_20 = arith.cmpi sge, %offs_14, %offs_19 : tensor<128xi64>
    %offs_21 = arith.andi %offs_18, %offs_20 : tensor<128xi1>
    %offs_22 = arith.addi %offs_11, %offs_10 : tensor<128xi32>
    %m = tt.splat %n : i32 -> tensor<128xi32>
    %m_23 = arith.cmpi slt, %offs_22, %m : tensor<128xi32>
    %0 = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %1 = tt.addptr %0, %offs_22 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %2 = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %3 = tt.addptr %2, %offs_22 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %4 = tt.load %3, %m_23 : tensor<128x!tt.ptr<f32>>
    %5 = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %6 = tt.addptr %5, %offs_22 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %cst = arith.constant 0.000000e+00 : f32
    %cst_24 = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %7 = tt.load %6, %m_23, %cst_24 : tensor<128x!tt.ptr<f32>>
    %8 = arith.addf %4, %7 : tensor<128xf32>
    tt.store %1, %8, %m_23 : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
