// A loop with MFMA that widens weights: no more than four waves of a SIMD, for which the order of each has shorter
// latencies, though more have registers.
// RUN: tessera compile %s --target gfx950 --num-warps 4 --num-stages 2 --emit hsaco -o /dev/null --remarks 2>&1 | FileCheck %s
// CHECK: remark: {{.*}}; 4 blocks of 4 warps fit on a multiprocessor
module {
  tt.func public @int8_weights(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x128xf32>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %0, %c16_i32 : i32
    %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %4 = tt.splat %2 : i32 -> tensor<16xi32>
    %5 = arith.addi %4, %3 : tensor<16xi32>
    %6 = arith.muli %1, %c128_i32 : i32
    %7 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %8 = tt.splat %6 : i32 -> tensor<128xi32>
    %9 = arith.addi %8, %7 : tensor<128xi32>
    %10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %11 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
    %12 = tt.splat %arg1 : !tt.ptr<i8> -> tensor<64x1x!tt.ptr<i8>>
    %13 = tt.expand_dims %9 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %14 = tt.broadcast %13 : tensor<1x128xi32> -> tensor<64x128xi32>
    %15 = tt.expand_dims %5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %16 = tt.splat %arg6 : i32 -> tensor<16x1xi32>
    %17 = arith.muli %15, %16 : tensor<16x1xi32>
    %18 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %19 = tt.addptr %18, %17 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %20 = tt.broadcast %19 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x64x!tt.ptr<bf16>>
    %21 = scf.for %arg7 = %c0_i32 to %arg6 step %c64_i32 iter_args(%arg8 = %cst) -> (tensor<16x128xf32>)  : i32 {
      %38 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %39 = arith.addi %38, %10 : tensor<64xi32>
      %40 = tt.expand_dims %39 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %41 = arith.muli %40, %11 : tensor<64x1xi32>
      %42 = tt.addptr %12, %41 : tensor<64x1x!tt.ptr<i8>>, tensor<64x1xi32>
      %43 = tt.broadcast %42 : tensor<64x1x!tt.ptr<i8>> -> tensor<64x128x!tt.ptr<i8>>
      %44 = tt.addptr %43, %14 : tensor<64x128x!tt.ptr<i8>>, tensor<64x128xi32>
      %45 = tt.load %44 : tensor<64x128x!tt.ptr<i8>>
      %46 = arith.sitofp %45 : tensor<64x128xi8> to tensor<64x128xbf16>
      %47 = tt.expand_dims %39 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %48 = tt.broadcast %47 : tensor<1x64xi32> -> tensor<16x64xi32>
      %49 = tt.addptr %20, %48 : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
      %50 = tt.load %49 : tensor<16x64x!tt.ptr<bf16>>
      %51 = tt.dot %50, %46, %arg8, inputPrecision = tf32 : tensor<16x64xbf16> * tensor<64x128xbf16> -> tensor<16x128xf32>
      scf.yield %51 : tensor<16x128xf32>
    }
    %22 = tt.expand_dims %5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %23 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
    %24 = arith.muli %22, %23 : tensor<16x1xi32>
    %25 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %26 = tt.addptr %25, %24 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %27 = tt.expand_dims %9 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %28 = tt.broadcast %26 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x128x!tt.ptr<bf16>>
    %29 = tt.broadcast %27 : tensor<1x128xi32> -> tensor<16x128xi32>
    %30 = tt.addptr %28, %29 : tensor<16x128x!tt.ptr<bf16>>, tensor<16x128xi32>
    %31 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %32 = tt.addptr %31, %9 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %33 = tt.load %32 : tensor<128x!tt.ptr<f32>>
    %34 = tt.expand_dims %33 {axis = 0 : i32} : tensor<128xf32> -> tensor<1x128xf32>
    %35 = tt.broadcast %34 : tensor<1x128xf32> -> tensor<16x128xf32>
    %36 = arith.mulf %21, %35 : tensor<16x128xf32>
    %37 = arith.truncf %36 : tensor<16x128xf32> to tensor<16x128xbf16>
    tt.store %30, %37 : tensor<16x128x!tt.ptr<bf16>>
    tt.return
  }
}
