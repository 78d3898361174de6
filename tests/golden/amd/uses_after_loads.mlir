// Pairs of numbers that are loaded one by one are packed after all loads of a tile are issued. With heads of 256 the
// second dot takes nearly all registers: LLVM's scheduler would wait for each pair before it issues the next.
// RUN: tessera compile %s --target gfx1100 --num-warps 8 --num-stages 1 --emit amdgcn | FileCheck %s
// On CDNA, all 19 loads of a convolution of nine taps are in flight before the first wait.
// RUN: tessera compile %S/../../kernels/depthwise_taps/depthwise_taps.ttir --target gfx950 --num-stages 2 --emit amdgcn | FileCheck %s --check-prefix=CDNA
// CDNA-LABEL: depthwise_nhwc:
// CDNA-NOT: vmcnt
// CDNA: s_waitcnt vmcnt(18)
// CHECK-LABEL: fa:
// CHECK-NOT: s_clause 0x1{{[[:space:]]+}}buffer_load_u16
// CHECK: s_clause 0x1f{{[[:space:]]+}}buffer_load_u16
// CHECK-NOT: s_clause 0x1{{[[:space:]]+}}buffer_load_u16
// CHECK: s_endpgm

module {
  tt.func public @fa(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg5: i32, %arg6: i32, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: f32, %arg9: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x256xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x256xf16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<256x32xf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x256xf16>
    %cst_4 = arith.constant dense<0xFF800000> : tensor<64x32xf32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %cst_6 = arith.constant dense<0xFF800000> : tensor<64xf32>
    %c256_i32 = arith.constant 256 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = tt.get_program_id z : i32
    %3 = arith.divsi %1, %arg6 : i32
    %4 = arith.muli %2, %arg7 : i32
    %5 = arith.muli %0, %c64_i32 : i32
    %6 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %7 = tt.splat %5 : i32 -> tensor<64xi32>
    %8 = arith.addi %7, %6 : tensor<64xi32>
    %9 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %10 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %11 = arith.cmpi sge, %5, %arg7 : i32
    cf.cond_br %11, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    tt.return
  ^bb2:  // pred: ^bb0
    %12 = tt.expand_dims %8 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %13 = tt.splat %arg7 : i32 -> tensor<64x1xi32>
    %14 = arith.cmpi slt, %12, %13 : tensor<64x1xi32>
    %15 = tt.splat %4 : i32 -> tensor<64xi32>
    %16 = arith.addi %15, %8 : tensor<64xi32>
    %17 = tt.expand_dims %16 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %18 = tt.splat %arg9 : i32 -> tensor<64x1xi32>
    %19 = arith.muli %17, %18 : tensor<64x1xi32>
    %20 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %21 = tt.addptr %20, %19 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %22 = arith.muli %1, %c256_i32 : i32
    %23 = tt.splat %22 : i32 -> tensor<64x1xi32>
    %24 = tt.addptr %21, %23 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %25 = tt.expand_dims %10 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %26 = tt.broadcast %24 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x256x!tt.ptr<f16>>
    %27 = tt.broadcast %25 : tensor<1x256xi32> -> tensor<64x256xi32>
    %28 = tt.addptr %26, %27 : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
    %29 = tt.broadcast %14 : tensor<64x1xi1> -> tensor<64x256xi1>
    %30 = tt.load %28, %29, %cst_3 : tensor<64x256x!tt.ptr<f16>>
    %31 = arith.divsi %arg9, %arg6 : i32
    %32 = tt.splat %arg7 : i32 -> tensor<1x32xi32>
    %33 = tt.splat %31 : i32 -> tensor<1x32xi32>
    %34 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>>
    %35 = arith.muli %3, %c256_i32 : i32
    %36 = tt.splat %35 : i32 -> tensor<1x32xi32>
    %37 = tt.expand_dims %10 {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
    %38 = tt.broadcast %37 : tensor<256x1xi32> -> tensor<256x32xi32>
    %39 = tt.splat %arg8 : f32 -> tensor<64x32xf32>
    %40 = tt.splat %arg7 : i32 -> tensor<32x1xi32>
    %41 = tt.splat %31 : i32 -> tensor<32x1xi32>
    %42 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %43 = tt.splat %35 : i32 -> tensor<32x1xi32>
    %44 = tt.broadcast %25 : tensor<1x256xi32> -> tensor<32x256xi32>
    %45:3 = scf.for %arg10 = %c0_i32 to %arg7 step %c32_i32 iter_args(%arg11 = %cst_6, %arg12 = %cst_0, %arg13 = %cst) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>)  : i32 {
      %55 = tt.splat %arg10 : i32 -> tensor<32xi32>
      %56 = arith.addi %55, %9 : tensor<32xi32>
      %57 = tt.expand_dims %56 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %58 = arith.cmpi slt, %57, %32 : tensor<1x32xi32>
      %59 = arith.addi %4, %arg10 : i32
      %60 = tt.splat %59 : i32 -> tensor<32xi32>
      %61 = arith.addi %60, %9 : tensor<32xi32>
      %62 = tt.expand_dims %61 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %63 = arith.muli %62, %33 : tensor<1x32xi32>
      %64 = tt.addptr %34, %63 : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
      %65 = tt.addptr %64, %36 : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
      %66 = tt.broadcast %65 : tensor<1x32x!tt.ptr<f16>> -> tensor<256x32x!tt.ptr<f16>>
      %67 = tt.addptr %66, %38 : tensor<256x32x!tt.ptr<f16>>, tensor<256x32xi32>
      %68 = tt.broadcast %58 : tensor<1x32xi1> -> tensor<256x32xi1>
      %69 = tt.load %67, %68, %cst_2 : tensor<256x32x!tt.ptr<f16>>
      %70 = tt.dot %30, %69, %cst_5, inputPrecision = tf32 : tensor<64x256xf16> * tensor<256x32xf16> -> tensor<64x32xf32>
      %71 = arith.mulf %70, %39 : tensor<64x32xf32>
      %72 = tt.broadcast %58 : tensor<1x32xi1> -> tensor<64x32xi1>
      %73 = arith.select %72, %71, %cst_4 : tensor<64x32xi1>, tensor<64x32xf32>
      %74 = "tt.reduce"(%73) <{axis = 1 : i32}> ({
      ^bb0(%arg14: f32, %arg15: f32):
        %100 = arith.maxnumf %arg14, %arg15 : f32
        tt.reduce.return %100 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %75 = arith.maxnumf %arg11, %74 : tensor<64xf32>
      %76 = tt.expand_dims %75 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %77 = tt.broadcast %76 : tensor<64x1xf32> -> tensor<64x32xf32>
      %78 = arith.subf %73, %77 : tensor<64x32xf32>
      %79 = math.exp2 %78 : tensor<64x32xf32>
      %80 = arith.subf %arg11, %75 : tensor<64xf32>
      %81 = math.exp2 %80 : tensor<64xf32>
      %82 = arith.mulf %arg12, %81 : tensor<64xf32>
      %83 = "tt.reduce"(%79) <{axis = 1 : i32}> ({
      ^bb0(%arg14: f32, %arg15: f32):
        %100 = arith.addf %arg14, %arg15 : f32
        tt.reduce.return %100 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %84 = arith.addf %82, %83 : tensor<64xf32>
      %85 = tt.expand_dims %56 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %86 = arith.cmpi slt, %85, %40 : tensor<32x1xi32>
      %87 = tt.expand_dims %61 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %88 = arith.muli %87, %41 : tensor<32x1xi32>
      %89 = tt.addptr %42, %88 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %90 = tt.addptr %89, %43 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %91 = tt.broadcast %90 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x256x!tt.ptr<f16>>
      %92 = tt.addptr %91, %44 : tensor<32x256x!tt.ptr<f16>>, tensor<32x256xi32>
      %93 = tt.broadcast %86 : tensor<32x1xi1> -> tensor<32x256xi1>
      %94 = tt.load %92, %93, %cst_1 : tensor<32x256x!tt.ptr<f16>>
      %95 = tt.expand_dims %81 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %96 = tt.broadcast %95 : tensor<64x1xf32> -> tensor<64x256xf32>
      %97 = arith.mulf %arg13, %96 : tensor<64x256xf32>
      %98 = arith.truncf %79 : tensor<64x32xf32> to tensor<64x32xf16>
      %99 = tt.dot %98, %94, %97, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x256xf16> -> tensor<64x256xf32>
      scf.yield %75, %84, %99 : tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>
    }
    %46 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %47 = tt.addptr %46, %19 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %48 = tt.addptr %47, %23 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %49 = tt.broadcast %48 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x256x!tt.ptr<f16>>
    %50 = tt.addptr %49, %27 : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
    %51 = tt.expand_dims %45#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %52 = tt.broadcast %51 : tensor<64x1xf32> -> tensor<64x256xf32>
    %53 = arith.divf %45#2, %52 : tensor<64x256xf32>
    %54 = arith.truncf %53 : tensor<64x256xf32> to tensor<64x256xf16>
    tt.store %50, %54, %29 : tensor<64x256x!tt.ptr<f16>>
    tt.return
  }
}
