// order-matrices where its order takes the registers of one block of threads more than LLVM's order does: it is taken
// all the same, as two blocks or more are left. 128 registers would be those of four blocks.
// RUN: tessera compile %s --target gfx950 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck %s
// CHECK: .vgpr_count: {{ *1[3-9][0-9]$}}
module {
  tt.func public @gemm(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c31_i32 = arith.constant 31 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c127_i32 = arith.constant 127 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x128xf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<128x32xf16>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<32> : tensor<32x128xi32>
    %cst_3 = arith.constant dense<32> : tensor<128x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c128_i32 = arith.constant 128 : i32
    %c8_i32 = arith.constant 8 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.addi %arg3, %c127_i32 : i32
    %2 = arith.divsi %1, %c128_i32 : i32
    %3 = arith.addi %arg4, %c127_i32 : i32
    %4 = arith.divsi %3, %c128_i32 : i32
    %5 = arith.muli %4, %c8_i32 : i32
    %6 = arith.divsi %0, %5 : i32
    %7 = arith.muli %6, %c8_i32 : i32
    %8 = arith.subi %2, %7 : i32
    %9 = arith.minsi %8, %c8_i32 : i32
    %10 = arith.remsi %0, %5 : i32
    %11 = arith.remsi %10, %9 : i32
    %12 = arith.addi %7, %11 : i32
    %13 = arith.divsi %10, %9 : i32
    %14 = arith.muli %12, %c128_i32 : i32
    %15 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %16 = tt.splat %14 : i32 -> tensor<128xi32>
    %17 = arith.addi %16, %15 : tensor<128xi32>
    %18 = tt.splat %arg3 : i32 -> tensor<128xi32>
    %19 = arith.remsi %17, %18 : tensor<128xi32>
    %20 = arith.muli %13, %c128_i32 : i32
    %21 = tt.splat %20 : i32 -> tensor<128xi32>
    %22 = arith.addi %21, %15 : tensor<128xi32>
    %23 = tt.splat %arg4 : i32 -> tensor<128xi32>
    %24 = arith.remsi %22, %23 : tensor<128xi32>
    %25 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %26 = tt.expand_dims %19 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %27 = tt.splat %arg6 : i32 -> tensor<128x1xi32>
    %28 = arith.muli %26, %27 : tensor<128x1xi32>
    %29 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %30 = tt.addptr %29, %28 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %31 = tt.expand_dims %25 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %32 = tt.broadcast %30 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x32x!tt.ptr<f16>>
    %33 = tt.broadcast %31 : tensor<1x32xi32> -> tensor<128x32xi32>
    %34 = tt.addptr %32, %33 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
    %35 = tt.expand_dims %25 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %36 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %37 = tt.addptr %36, %35 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %38 = tt.expand_dims %24 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %39 = tt.splat %arg8 : i32 -> tensor<1x128xi32>
    %40 = arith.muli %38, %39 : tensor<1x128xi32>
    %41 = tt.broadcast %37 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x128x!tt.ptr<f16>>
    %42 = tt.broadcast %40 : tensor<1x128xi32> -> tensor<32x128xi32>
    %43 = tt.addptr %41, %42 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
    %44 = arith.addi %arg5, %c31_i32 : i32
    %45 = arith.divsi %44, %c32_i32 : i32
    %46:3 = scf.for %arg9 = %c0_i32 to %45 step %c1_i32 iter_args(%arg10 = %34, %arg11 = %43, %arg12 = %cst) -> (tensor<128x32x!tt.ptr<f16>>, tensor<32x128x!tt.ptr<f16>>, tensor<128x128xf32>)  : i32 {
      %64 = arith.muli %arg9, %c32_i32 : i32
      %65 = arith.subi %arg5, %64 : i32
      %66 = tt.splat %65 : i32 -> tensor<1x32xi32>
      %67 = arith.cmpi slt, %31, %66 : tensor<1x32xi32>
      %68 = tt.broadcast %67 : tensor<1x32xi1> -> tensor<128x32xi1>
      %69 = tt.load %arg10, %68, %cst_1 : tensor<128x32x!tt.ptr<f16>>
      %70 = tt.splat %65 : i32 -> tensor<32x1xi32>
      %71 = arith.cmpi slt, %35, %70 : tensor<32x1xi32>
      %72 = tt.broadcast %71 : tensor<32x1xi1> -> tensor<32x128xi1>
      %73 = tt.load %arg11, %72, %cst_0 : tensor<32x128x!tt.ptr<f16>>
      %74 = tt.dot %69, %73, %arg12, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
      %75 = tt.addptr %arg10, %cst_3 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      %76 = tt.addptr %arg11, %cst_2 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      scf.yield %75, %76, %74 : tensor<128x32x!tt.ptr<f16>>, tensor<32x128x!tt.ptr<f16>>, tensor<128x128xf32>
    }
    %47 = tt.expand_dims %17 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %48 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
    %49 = arith.cmpi slt, %47, %48 : tensor<128x1xi32>
    %50 = tt.expand_dims %22 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %51 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
    %52 = arith.cmpi slt, %50, %51 : tensor<1x128xi32>
    %53 = tt.broadcast %49 : tensor<128x1xi1> -> tensor<128x128xi1>
    %54 = tt.broadcast %52 : tensor<1x128xi1> -> tensor<128x128xi1>
    %55 = arith.andi %53, %54 : tensor<128x128xi1>
    %56 = tt.splat %arg4 : i32 -> tensor<128x1xi32>
    %57 = arith.muli %47, %56 : tensor<128x1xi32>
    %58 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %59 = tt.addptr %58, %57 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %60 = tt.broadcast %59 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
    %61 = tt.broadcast %50 : tensor<1x128xi32> -> tensor<128x128xi32>
    %62 = tt.addptr %60, %61 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %63 = arith.truncf %46#2 : tensor<128x128xf32> to tensor<128x128xf16>
    tt.store %62, %63, %55 : tensor<128x128x!tt.ptr<f16>>
    tt.return
  }
}
