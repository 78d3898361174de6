// A matmul of MXFP8 whose code for two blocks of eight waves spills four registers around its loop: it is generated
// again, with twice as many registers computed again after the loop, and spills none.
// RUN: tessera compile %s --target gfx950 --num-warps 8 --num-stages 2 -o %t.hsaco --remarks 2>&1 | FileCheck %s
// CHECK: takes {{[0-9]+}} registers of a thread (0 bytes spilled) and {{[0-9]+}} bytes of shared memory; 2 blocks of 8 warps fit
module {
  tt.func public @mxgemm(%arg0: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c127_i32 = arith.constant 127 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<4> : tensor<128x4xi32>
    %cst_1 = arith.constant dense<4> : tensor<64x4xi32>
    %cst_2 = arith.constant dense<128> : tensor<128x128xi32>
    %cst_3 = arith.constant dense<128> : tensor<64x128xi32>
    %c32_i32 = arith.constant 32 : i32
    %c128_i32 = arith.constant 128 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %0, %c64_i32 : i32
    %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %4 = tt.splat %2 : i32 -> tensor<64xi32>
    %5 = arith.addi %4, %3 : tensor<64xi32>
    %6 = arith.muli %1, %c128_i32 : i32
    %7 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %8 = tt.splat %6 : i32 -> tensor<128xi32>
    %9 = arith.addi %8, %7 : tensor<128xi32>
    %10 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %11 = tt.expand_dims %5 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %12 = tt.splat %arg7 : i32 -> tensor<64x1xi32>
    %13 = arith.muli %11, %12 : tensor<64x1xi32>
    %14 = tt.splat %arg0 : !tt.ptr<f8E4M3FN> -> tensor<64x1x!tt.ptr<f8E4M3FN>>
    %15 = tt.addptr %14, %13 : tensor<64x1x!tt.ptr<f8E4M3FN>>, tensor<64x1xi32>
    %16 = tt.expand_dims %7 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %17 = tt.broadcast %15 : tensor<64x1x!tt.ptr<f8E4M3FN>> -> tensor<64x128x!tt.ptr<f8E4M3FN>>
    %18 = tt.broadcast %16 : tensor<1x128xi32> -> tensor<64x128xi32>
    %19 = tt.addptr %17, %18 : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
    %20 = tt.expand_dims %9 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %21 = tt.splat %arg7 : i32 -> tensor<1x128xi32>
    %22 = arith.muli %20, %21 : tensor<1x128xi32>
    %23 = tt.splat %arg1 : !tt.ptr<f8E4M3FN> -> tensor<1x128x!tt.ptr<f8E4M3FN>>
    %24 = tt.addptr %23, %22 : tensor<1x128x!tt.ptr<f8E4M3FN>>, tensor<1x128xi32>
    %25 = tt.expand_dims %7 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %26 = tt.broadcast %24 : tensor<1x128x!tt.ptr<f8E4M3FN>> -> tensor<128x128x!tt.ptr<f8E4M3FN>>
    %27 = tt.broadcast %25 : tensor<128x1xi32> -> tensor<128x128xi32>
    %28 = tt.addptr %26, %27 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
    %29 = arith.divsi %arg7, %c32_i32 : i32
    %30 = tt.splat %29 : i32 -> tensor<64x1xi32>
    %31 = arith.muli %11, %30 : tensor<64x1xi32>
    %32 = tt.splat %arg2 : !tt.ptr<i8> -> tensor<64x1x!tt.ptr<i8>>
    %33 = tt.addptr %32, %31 : tensor<64x1x!tt.ptr<i8>>, tensor<64x1xi32>
    %34 = tt.expand_dims %10 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %35 = tt.broadcast %33 : tensor<64x1x!tt.ptr<i8>> -> tensor<64x4x!tt.ptr<i8>>
    %36 = tt.broadcast %34 : tensor<1x4xi32> -> tensor<64x4xi32>
    %37 = tt.addptr %35, %36 : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
    %38 = tt.expand_dims %9 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %39 = tt.splat %29 : i32 -> tensor<128x1xi32>
    %40 = arith.muli %38, %39 : tensor<128x1xi32>
    %41 = tt.splat %arg3 : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>>
    %42 = tt.addptr %41, %40 : tensor<128x1x!tt.ptr<i8>>, tensor<128x1xi32>
    %43 = tt.broadcast %42 : tensor<128x1x!tt.ptr<i8>> -> tensor<128x4x!tt.ptr<i8>>
    %44 = tt.broadcast %34 : tensor<1x4xi32> -> tensor<128x4xi32>
    %45 = tt.addptr %43, %44 : tensor<128x4x!tt.ptr<i8>>, tensor<128x4xi32>
    %46 = arith.addi %arg7, %c127_i32 : i32
    %47 = arith.divsi %46, %c128_i32 : i32
    %48:5 = scf.for %arg8 = %c0_i32 to %47 step %c1_i32 iter_args(%arg9 = %cst, %arg10 = %19, %arg11 = %28, %arg12 = %37, %arg13 = %45) -> (tensor<64x128xf32>, tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<64x4x!tt.ptr<i8>>, tensor<128x4x!tt.ptr<i8>>)  : i32 {
      %57 = tt.load %arg10 : tensor<64x128x!tt.ptr<f8E4M3FN>>
      %58 = tt.load %arg11 : tensor<128x128x!tt.ptr<f8E4M3FN>>
      %59 = tt.load %arg12 : tensor<64x4x!tt.ptr<i8>>
      %60 = tt.load %arg13 : tensor<128x4x!tt.ptr<i8>>
      %61 = tt.dot_scaled %57 scale %59, %58 scale %60, %arg9 lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<64x128xf8E4M3FN>, tensor<64x4xi8> * tensor<128x128xf8E4M3FN>, tensor<128x4xi8> -> tensor<64x128xf32>
      %62 = tt.addptr %arg10, %cst_3 : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
      %63 = tt.addptr %arg11, %cst_2 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
      %64 = tt.addptr %arg12, %cst_1 : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
      %65 = tt.addptr %arg13, %cst_0 : tensor<128x4x!tt.ptr<i8>>, tensor<128x4xi32>
      scf.yield %61, %62, %63, %64, %65 : tensor<64x128xf32>, tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<64x4x!tt.ptr<i8>>, tensor<128x4x!tt.ptr<i8>>
    }
    %49 = tt.splat %arg6 : i32 -> tensor<64x1xi32>
    %50 = arith.muli %11, %49 : tensor<64x1xi32>
    %51 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %52 = tt.addptr %51, %50 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %53 = tt.broadcast %52 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x128x!tt.ptr<bf16>>
    %54 = tt.broadcast %20 : tensor<1x128xi32> -> tensor<64x128xi32>
    %55 = tt.addptr %53, %54 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
    %56 = arith.truncf %48#0 : tensor<64x128xf32> to tensor<64x128xbf16>
    tt.store %55, %56 : tensor<64x128x!tt.ptr<bf16>>
    tt.return
  }
}
