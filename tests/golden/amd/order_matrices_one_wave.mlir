// order-matrices where blocks of one wave share the registers of a SIMD: LDS admits eight blocks, which are two waves on
// each of four SIMDs. So its order may take up to 256 registers; if all eight waves were on one SIMD, 64.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --num-stages 2 --emit amdgcn -o - | FileCheck %s
// CHECK: .vgpr_count: {{ *1[0-9][0-9]$}}
module {
  tt.func public @gemm(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %c31_i32 = arith.constant 31 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf16>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<32> : tensor<32x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c8_i32 = arith.constant 8 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.addi %arg3, %c31_i32 : i32
    %2 = arith.divsi %1, %c32_i32 : i32
    %3 = arith.addi %arg4, %c31_i32 : i32
    %4 = arith.divsi %3, %c32_i32 : i32
    %5 = arith.muli %4, %c8_i32 : i32
    %6 = arith.divsi %0, %5 : i32
    %7 = arith.muli %6, %c8_i32 : i32
    %8 = arith.subi %2, %7 : i32
    %9 = arith.minsi %8, %c8_i32 : i32
    %10 = arith.remsi %0, %5 : i32
    %11 = arith.remsi %10, %9 : i32
    %12 = arith.addi %7, %11 : i32
    %13 = arith.divsi %10, %9 : i32
    %14 = arith.muli %12, %c32_i32 : i32
    %15 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %16 = tt.splat %14 : i32 -> tensor<32xi32>
    %17 = arith.addi %16, %15 : tensor<32xi32>
    %18 = tt.splat %arg3 : i32 -> tensor<32xi32>
    %19 = arith.remsi %17, %18 : tensor<32xi32>
    %20 = arith.muli %13, %c32_i32 : i32
    %21 = tt.splat %20 : i32 -> tensor<32xi32>
    %22 = arith.addi %21, %15 : tensor<32xi32>
    %23 = tt.splat %arg4 : i32 -> tensor<32xi32>
    %24 = arith.remsi %22, %23 : tensor<32xi32>
    %25 = tt.expand_dims %19 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %26 = tt.splat %arg6 : i32 -> tensor<32x1xi32>
    %27 = arith.muli %25, %26 : tensor<32x1xi32>
    %28 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %29 = tt.addptr %28, %27 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %30 = tt.expand_dims %15 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %31 = tt.broadcast %29 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %32 = tt.broadcast %30 : tensor<1x32xi32> -> tensor<32x32xi32>
    %33 = tt.addptr %31, %32 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %34 = tt.expand_dims %15 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %35 = tt.splat %arg7 : i32 -> tensor<32x1xi32>
    %36 = arith.muli %34, %35 : tensor<32x1xi32>
    %37 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %38 = tt.addptr %37, %36 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %39 = tt.expand_dims %24 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %40 = tt.broadcast %38 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %41 = tt.broadcast %39 : tensor<1x32xi32> -> tensor<32x32xi32>
    %42 = tt.addptr %40, %41 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %43 = arith.addi %arg5, %c31_i32 : i32
    %44 = arith.divsi %43, %c32_i32 : i32
    %45 = arith.muli %arg7, %c32_i32 : i32
    %46 = tt.splat %45 : i32 -> tensor<32x32xi32>
    %47:3 = scf.for %arg9 = %c0_i32 to %44 step %c1_i32 iter_args(%arg10 = %33, %arg11 = %42, %arg12 = %cst) -> (tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32xf32>)  : i32 {
      %65 = arith.muli %arg9, %c32_i32 : i32
      %66 = arith.subi %arg5, %65 : i32
      %67 = tt.splat %66 : i32 -> tensor<1x32xi32>
      %68 = arith.cmpi slt, %30, %67 : tensor<1x32xi32>
      %69 = tt.broadcast %68 : tensor<1x32xi1> -> tensor<32x32xi1>
      %70 = tt.load %arg10, %69, %cst_0 : tensor<32x32x!tt.ptr<f16>>
      %71 = tt.splat %66 : i32 -> tensor<32x1xi32>
      %72 = arith.cmpi slt, %34, %71 : tensor<32x1xi32>
      %73 = tt.broadcast %72 : tensor<32x1xi1> -> tensor<32x32xi1>
      %74 = tt.load %arg11, %73, %cst_0 : tensor<32x32x!tt.ptr<f16>>
      %75 = tt.dot %70, %74, %arg12, inputPrecision = tf32 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %76 = tt.addptr %arg10, %cst_1 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %77 = tt.addptr %arg11, %46 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      scf.yield %76, %77, %75 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32xf32>
    }
    %48 = tt.expand_dims %17 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %49 = tt.splat %arg3 : i32 -> tensor<32x1xi32>
    %50 = arith.cmpi slt, %48, %49 : tensor<32x1xi32>
    %51 = tt.expand_dims %22 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %52 = tt.splat %arg4 : i32 -> tensor<1x32xi32>
    %53 = arith.cmpi slt, %51, %52 : tensor<1x32xi32>
    %54 = tt.broadcast %50 : tensor<32x1xi1> -> tensor<32x32xi1>
    %55 = tt.broadcast %53 : tensor<1x32xi1> -> tensor<32x32xi1>
    %56 = arith.andi %54, %55 : tensor<32x32xi1>
    %57 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
    %58 = arith.muli %48, %57 : tensor<32x1xi32>
    %59 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %60 = tt.addptr %59, %58 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %61 = tt.broadcast %60 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %62 = tt.broadcast %51 : tensor<1x32xi32> -> tensor<32x32xi32>
    %63 = tt.addptr %61, %62 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %64 = arith.truncf %47#2 : tensor<32x32xf32> to tensor<32x32xf16>
    tt.store %63, %64, %56 : tensor<32x32x!tt.ptr<f16>>
    tt.return
  }
}
