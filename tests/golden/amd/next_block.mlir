// A chunk scan of which three blocks of four waves fit, and a fourth but for six registers: the code is generated again
// for four. Not if the user requests a number of waves.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 -o %t.hsaco --remarks 2>&1 | FileCheck %s
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 --waves-per-eu 3 -o %t.hsaco --remarks 2>&1 | FileCheck %s --check-prefix=ASKED
// CHECK: (0 bytes spilled) and 16384 bytes of shared memory; 4 blocks of 4 warps fit
// ASKED: (0 bytes spilled) and 16384 bytes of shared memory; 3 blocks of 4 warps fit
module {
  tt.func public @scan_small(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg5: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg6: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg7: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}, %arg10: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x64xbf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_1 = arith.constant dense<64> : tensor<32x1xi32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<32xf32>
    %cst_4 = arith.constant dense<256> : tensor<64x1xi32>
    %c1_i32 = arith.constant 1 : i32
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_6 = arith.constant dense<128> : tensor<1x64xi32>
    %cst_7 = arith.constant dense<128> : tensor<64x1xi32>
    %c256_i32 = arith.constant 256 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = tt.get_program_id z : i32
    %3 = arith.muli %0, %c64_i32 : i32
    %4 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %5 = tt.splat %3 : i32 -> tensor<64xi32>
    %6 = arith.addi %5, %4 : tensor<64xi32>
    %7 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %8 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %9 = arith.muli %1, %c256_i32 : i32
    %10 = arith.subi %arg8, %9 : i32
    %11 = arith.minsi %10, %c256_i32 : i32
    %12 = arith.muli %2, %arg8 : i32
    %13 = tt.addptr %arg3, %12 : !tt.ptr<f32>, i32
    %14 = tt.addptr %13, %9 : !tt.ptr<f32>, i32
    %15 = tt.splat %14 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %16 = tt.addptr %15, %6 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %17 = tt.load %16 : tensor<64x!tt.ptr<f32>>
    %18 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %19 = tt.splat %9 : i32 -> tensor<64x1xi32>
    %20 = arith.addi %19, %18 : tensor<64x1xi32>
    %21 = tt.splat %arg10 : i32 -> tensor<64x1xi32>
    %22 = arith.muli %20, %21 : tensor<64x1xi32>
    %23 = arith.muli %22, %cst_7 : tensor<64x1xi32>
    %24 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %25 = tt.addptr %24, %23 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %26 = tt.expand_dims %8 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %27 = tt.broadcast %25 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x128x!tt.ptr<bf16>>
    %28 = tt.broadcast %26 : tensor<1x128xi32> -> tensor<64x128xi32>
    %29 = tt.addptr %27, %28 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
    %30 = tt.load %29 : tensor<64x128x!tt.ptr<bf16>>
    %31 = arith.muli %1, %arg9 : i32
    %32 = arith.addi %31, %2 : i32
    %33 = arith.muli %32, %c64_i32 : i32
    %34 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %35 = tt.splat %33 : i32 -> tensor<1x64xi32>
    %36 = arith.addi %35, %34 : tensor<1x64xi32>
    %37 = arith.muli %36, %cst_6 : tensor<1x64xi32>
    %38 = tt.splat %arg5 : !tt.ptr<bf16> -> tensor<1x64x!tt.ptr<bf16>>
    %39 = tt.addptr %38, %37 : tensor<1x64x!tt.ptr<bf16>>, tensor<1x64xi32>
    %40 = tt.expand_dims %8 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %41 = tt.broadcast %39 : tensor<1x64x!tt.ptr<bf16>> -> tensor<128x64x!tt.ptr<bf16>>
    %42 = tt.broadcast %40 : tensor<128x1xi32> -> tensor<128x64xi32>
    %43 = tt.addptr %41, %42 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
    %44 = tt.load %43 : tensor<128x64x!tt.ptr<bf16>>
    %45 = tt.dot %30, %44, %cst_5, inputPrecision = tf32 : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
    %46 = math.exp %17 : tensor<64xf32>
    %47 = tt.expand_dims %46 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %48 = tt.broadcast %47 : tensor<64x1xf32> -> tensor<64x64xf32>
    %49 = arith.mulf %45, %48 : tensor<64x64xf32>
    %50 = arith.addi %0, %c1_i32 : i32
    %51 = arith.muli %50, %c64_i32 : i32
    %52 = arith.minsi %51, %11 : i32
    %53 = arith.muli %1, %arg10 : i32
    %54 = arith.muli %53, %c256_i32 : i32
    %55 = tt.splat %54 : i32 -> tensor<64x1xi32>
    %56 = arith.addi %55, %18 : tensor<64x1xi32>
    %57 = arith.muli %56, %cst_4 : tensor<64x1xi32>
    %58 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %59 = tt.addptr %58, %57 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %60 = tt.broadcast %59 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x32x!tt.ptr<bf16>>
    %61 = tt.splat %11 : i32 -> tensor<32xi32>
    %62 = tt.splat %14 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %63 = tt.expand_dims %17 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %64 = tt.broadcast %63 : tensor<64x1xf32> -> tensor<64x32xf32>
    %65 = tt.addptr %arg2, %12 : !tt.ptr<f32>, i32
    %66 = tt.addptr %65, %9 : !tt.ptr<f32>, i32
    %67 = tt.splat %66 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %68 = tt.broadcast %18 : tensor<64x1xi32> -> tensor<64x32xi32>
    %69 = tt.splat %9 : i32 -> tensor<32x1xi32>
    %70 = tt.splat %arg9 : i32 -> tensor<32x1xi32>
    %71 = tt.splat %2 : i32 -> tensor<32x1xi32>
    %72 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
    %73 = tt.broadcast %34 : tensor<1x64xi32> -> tensor<32x64xi32>
    %74 = scf.for %arg11 = %c0_i32 to %52 step %c32_i32 iter_args(%arg12 = %49) -> (tensor<64x64xf32>)  : i32 {
      %86 = tt.splat %arg11 : i32 -> tensor<32xi32>
      %87 = arith.addi %86, %7 : tensor<32xi32>
      %88 = tt.expand_dims %87 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %89 = tt.broadcast %88 : tensor<1x32xi32> -> tensor<64x32xi32>
      %90 = tt.addptr %60, %89 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %91 = tt.load %90 : tensor<64x32x!tt.ptr<bf16>>
      %92 = arith.extf %91 : tensor<64x32xbf16> to tensor<64x32xf32>
      %93 = arith.cmpi slt, %87, %61 : tensor<32xi32>
      %94 = tt.addptr %62, %87 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
      %95 = tt.load %94, %93, %cst_3 : tensor<32x!tt.ptr<f32>>
      %96 = tt.expand_dims %95 {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
      %97 = tt.broadcast %96 : tensor<1x32xf32> -> tensor<64x32xf32>
      %98 = arith.subf %64, %97 : tensor<64x32xf32>
      %99 = arith.minnumf %98, %cst_2 : tensor<64x32xf32>
      %100 = math.exp %99 : tensor<64x32xf32>
      %101 = arith.mulf %92, %100 : tensor<64x32xf32>
      %102 = tt.addptr %67, %87 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
      %103 = tt.load %102, %93, %cst_3 : tensor<32x!tt.ptr<f32>>
      %104 = tt.expand_dims %103 {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
      %105 = tt.broadcast %104 : tensor<1x32xf32> -> tensor<64x32xf32>
      %106 = arith.mulf %101, %105 : tensor<64x32xf32>
      %107 = arith.cmpi sge, %68, %89 : tensor<64x32xi32>
      %108 = arith.select %107, %106, %cst_2 : tensor<64x32xi1>, tensor<64x32xf32>
      %109 = tt.expand_dims %93 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %110 = tt.expand_dims %87 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %111 = arith.addi %69, %110 : tensor<32x1xi32>
      %112 = arith.muli %111, %70 : tensor<32x1xi32>
      %113 = arith.addi %112, %71 : tensor<32x1xi32>
      %114 = arith.muli %113, %cst_1 : tensor<32x1xi32>
      %115 = tt.addptr %72, %114 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %116 = tt.broadcast %115 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %117 = tt.addptr %116, %73 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %118 = tt.broadcast %109 : tensor<32x1xi1> -> tensor<32x64xi1>
      %119 = tt.load %117, %118, %cst : tensor<32x64x!tt.ptr<bf16>>
      %120 = arith.truncf %108 : tensor<64x32xf32> to tensor<64x32xbf16>
      %121 = tt.dot %120, %119, %arg12, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      scf.yield %121 : tensor<64x64xf32>
    }
    %75 = tt.splat %arg9 : i32 -> tensor<64x1xi32>
    %76 = arith.muli %20, %75 : tensor<64x1xi32>
    %77 = tt.splat %2 : i32 -> tensor<64x1xi32>
    %78 = arith.addi %76, %77 : tensor<64x1xi32>
    %79 = arith.muli %78, %cst_0 : tensor<64x1xi32>
    %80 = tt.splat %arg7 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %81 = tt.addptr %80, %79 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %82 = tt.broadcast %81 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %83 = tt.broadcast %34 : tensor<1x64xi32> -> tensor<64x64xi32>
    %84 = tt.addptr %82, %83 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %85 = arith.truncf %74 : tensor<64x64xf32> to tensor<64x64xbf16>
    tt.store %84, %85 : tensor<64x64x!tt.ptr<bf16>>
    tt.return
  }
}
