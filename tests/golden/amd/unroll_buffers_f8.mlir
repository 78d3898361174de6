// A matmul in 8-bit floats by eight waves: MFMA that takes scales, with ones. Its loop is unrolled like one without
// scales, although its carried bytes, each in a register, would not leave room for a second iteration.
// RUN: tessera compile %s --target gfx950 --num-warps 8 --num-stages 2 --emit llir | FileCheck %s
// CHECK: {{^}}for:
// CHECK-NOT: br i1
// CHECK: @llvm.amdgcn.mfma.scale
// CHECK: call void @llvm.amdgcn.sched.barrier(i32 2047)
// CHECK-NOT: br i1
// CHECK: @llvm.amdgcn.mfma.scale
// CHECK: br i1 {{.*}}label %for{{$}}
module {
  tt.func public @gemm(%arg0: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c127_i32 = arith.constant 127 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x128xf8E4M3FN>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<128> : tensor<128x128xi32>
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
    %25 = tt.expand_dims %19 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %26 = tt.splat %arg6 : i32 -> tensor<128x1xi32>
    %27 = arith.muli %25, %26 : tensor<128x1xi32>
    %28 = tt.splat %arg0 : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>>
    %29 = tt.addptr %28, %27 : tensor<128x1x!tt.ptr<f8E4M3FN>>, tensor<128x1xi32>
    %30 = tt.expand_dims %15 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %31 = tt.broadcast %29 : tensor<128x1x!tt.ptr<f8E4M3FN>> -> tensor<128x128x!tt.ptr<f8E4M3FN>>
    %32 = tt.broadcast %30 : tensor<1x128xi32> -> tensor<128x128xi32>
    %33 = tt.addptr %31, %32 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
    %34 = tt.expand_dims %15 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %35 = tt.splat %arg1 : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>>
    %36 = tt.addptr %35, %34 : tensor<128x1x!tt.ptr<f8E4M3FN>>, tensor<128x1xi32>
    %37 = tt.expand_dims %24 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %38 = tt.splat %arg8 : i32 -> tensor<1x128xi32>
    %39 = arith.muli %37, %38 : tensor<1x128xi32>
    %40 = tt.broadcast %36 : tensor<128x1x!tt.ptr<f8E4M3FN>> -> tensor<128x128x!tt.ptr<f8E4M3FN>>
    %41 = tt.broadcast %39 : tensor<1x128xi32> -> tensor<128x128xi32>
    %42 = tt.addptr %40, %41 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
    %43 = arith.addi %arg5, %c127_i32 : i32
    %44 = arith.divsi %43, %c128_i32 : i32
    %45:3 = scf.for %arg9 = %c0_i32 to %44 step %c1_i32 iter_args(%arg10 = %33, %arg11 = %42, %arg12 = %cst) -> (tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xf32>)  : i32 {
      %63 = arith.muli %arg9, %c128_i32 : i32
      %64 = arith.subi %arg5, %63 : i32
      %65 = tt.splat %64 : i32 -> tensor<1x128xi32>
      %66 = arith.cmpi slt, %30, %65 : tensor<1x128xi32>
      %67 = tt.broadcast %66 : tensor<1x128xi1> -> tensor<128x128xi1>
      %68 = tt.load %arg10, %67, %cst_0 : tensor<128x128x!tt.ptr<f8E4M3FN>>
      %69 = tt.splat %64 : i32 -> tensor<128x1xi32>
      %70 = arith.cmpi slt, %34, %69 : tensor<128x1xi32>
      %71 = tt.broadcast %70 : tensor<128x1xi1> -> tensor<128x128xi1>
      %72 = tt.load %arg11, %71, %cst_0 : tensor<128x128x!tt.ptr<f8E4M3FN>>
      %73 = tt.dot %68, %72, %arg12, inputPrecision = tf32 : tensor<128x128xf8E4M3FN> * tensor<128x128xf8E4M3FN> -> tensor<128x128xf32>
      %74 = tt.addptr %arg10, %cst_1 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
      %75 = tt.addptr %arg11, %cst_1 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
      scf.yield %74, %75, %73 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xf32>
    }
    %46 = tt.expand_dims %17 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %47 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
    %48 = arith.cmpi slt, %46, %47 : tensor<128x1xi32>
    %49 = tt.expand_dims %22 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %50 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
    %51 = arith.cmpi slt, %49, %50 : tensor<1x128xi32>
    %52 = tt.broadcast %48 : tensor<128x1xi1> -> tensor<128x128xi1>
    %53 = tt.broadcast %51 : tensor<1x128xi1> -> tensor<128x128xi1>
    %54 = arith.andi %52, %53 : tensor<128x128xi1>
    %55 = tt.splat %arg4 : i32 -> tensor<128x1xi32>
    %56 = arith.muli %46, %55 : tensor<128x1xi32>
    %57 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %58 = tt.addptr %57, %56 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %59 = tt.broadcast %58 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
    %60 = tt.broadcast %49 : tensor<1x128xi32> -> tensor<128x128xi32>
    %61 = tt.addptr %59, %60 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %62 = arith.truncf %45#2 : tensor<128x128xf32> to tensor<128x128xf16>
    tt.store %61, %62, %54 : tensor<128x128x!tt.ptr<f16>>
    tt.return
  }
}
