// A pipelined loop whose step is not one, and whose body uses the counter of the next iteration: neither addition to the
// counter wraps, so LLVM, which merges them, counts the iterations. The loop's two buffers are then unrolled with one
// exit, instead of one behind each buffer, which would hold what the loop starts from until its end. A loop that is not
// pipelined says nothing of its counter.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 --emit ttgir | FileCheck %s --check-prefix=COUNTER
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 1 --emit ttgir | FileCheck %s --check-prefix=ONCE
// COUNTER: scf.for %[[I:.*]] = %c0_i32 to %{{.*}} step %[[STEP:.*]] iter_args
// COUNTER: arith.addi %[[I]], %[[STEP]] overflow<nsw> : i32
// COUNTER-NOT: arith.addi %[[I]], %[[STEP]] : i32
// CHECK: {{^}}for:
// CHECK-COUNT-8: call contract <16 x float> @llvm.amdgcn.mfma
// CHECK: br i1 {{.*}}, label %for{{$}}
// CHECK-NOT: {{^}}for.1:
// ONCE: scf.for
// ONCE-NOT: overflow
module {
  tt.func public @masked_steps(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %cst_3 = arith.constant dense<64> : tensor<32x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %2 = tt.splat %arg4 : i32 -> tensor<32xi32>
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %4 = tt.splat %arg3 : i32 -> tensor<64x1xi32>
    %5 = arith.muli %3, %4 : tensor<64x1xi32>
    %6 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %7 = tt.addptr %6, %5 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %8 = tt.broadcast %7 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %9 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %10 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %11 = tt.broadcast %10 : tensor<1x64xi32> -> tensor<32x64xi32>
    %12 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x32xi32>
    %13 = scf.for %arg5 = %c0_i32 to %arg4 step %c32_i32 iter_args(%arg6 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %22 = tt.splat %arg5 : i32 -> tensor<32xi32>
      %23 = arith.addi %22, %1 : tensor<32xi32>
      %24 = arith.cmpi slt, %23, %2 : tensor<32xi32>
      %25 = tt.expand_dims %24 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %26 = tt.expand_dims %23 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %27 = tt.broadcast %26 : tensor<1x32xi32> -> tensor<64x32xi32>
      %28 = tt.addptr %8, %27 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %29 = tt.broadcast %25 : tensor<1x32xi1> -> tensor<64x32xi1>
      %30 = tt.load %28, %29, %cst_2 : tensor<64x32x!tt.ptr<f16>>
      %31 = tt.expand_dims %24 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %32 = tt.expand_dims %23 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %33 = arith.muli %32, %cst_3 : tensor<32x1xi32>
      %34 = tt.addptr %9, %33 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %35 = tt.broadcast %34 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
      %36 = tt.addptr %35, %11 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      %37 = tt.broadcast %31 : tensor<32x1xi1> -> tensor<32x64xi1>
      %38 = tt.load %36, %37, %cst_0 : tensor<32x64x!tt.ptr<f16>>
      %39 = arith.cmpi sge, %12, %27 : tensor<64x32xi32>
      %40 = arith.select %39, %30, %cst_2 : tensor<64x32xi1>, tensor<64x32xf16>
      %41 = tt.dot %40, %38, %arg6, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %41 : tensor<64x64xf32>
    }
    %14 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %15 = arith.muli %14, %cst_1 : tensor<64x1xi32>
    %16 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %17 = tt.addptr %16, %15 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %18 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %19 = tt.broadcast %17 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %20 = tt.broadcast %18 : tensor<1x64xi32> -> tensor<64x64xi32>
    %21 = tt.addptr %19, %20 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %21, %13 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
