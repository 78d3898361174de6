// Loads are issued in the order in which they are waited for. A's four loads are stored to LDS first, behind B's sixteen in
// LLVM's order: the first store waited for all of B. Now most of B's loads are still in flight.
// RUN: tessera compile %s --target gfx1100 --emit amdgcn | FileCheck %s
// CHECK-LABEL: small_dots:
// CHECK-COUNT-20: global_load_b128
// CHECK-NOT: ds_store
// CHECK: s_waitcnt vmcnt(19)
// CHECK-NOT: s_waitcnt vmcnt({{[0-9]}})
// CHECK: ds_store_b128
// CHECK: s_waitcnt vmcnt(16)
// CHECK-NEXT: ds_store_b128

module {
  tt.func public @small_dots(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<2x16x64xf32>
    %cst_0 = arith.constant dense<64> : tensor<1x16x1xi32>
    %cst_1 = arith.constant dense<64> : tensor<1x128x1xi32>
    %cst_2 = arith.constant dense<64> : tensor<2x1x1xi32>
    %cst_3 = arith.constant dense<128> : tensor<1x16x1xi32>
    %cst_4 = arith.constant dense<128> : tensor<2x1x1xi32>
    %cst_5 = arith.constant dense<16> : tensor<2x1x1xi32>
    %c2_i32 = arith.constant 2 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c2_i32 : i32
    %2 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %4 = tt.expand_dims %3 {axis = 2 : i32} : tensor<2x1xi32> -> tensor<2x1x1xi32>
    %5 = tt.splat %1 : i32 -> tensor<2x1x1xi32>
    %6 = arith.addi %5, %4 : tensor<2x1x1xi32>
    %7 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %8 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %9 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %10 = arith.muli %6, %cst_5 : tensor<2x1x1xi32>
    %11 = arith.muli %10, %cst_4 : tensor<2x1x1xi32>
    %12 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<2x1x1x!tt.ptr<f16>>
    %13 = tt.addptr %12, %11 : tensor<2x1x1x!tt.ptr<f16>>, tensor<2x1x1xi32>
    %14 = tt.expand_dims %7 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %15 = tt.expand_dims %14 {axis = 2 : i32} : tensor<1x16xi32> -> tensor<1x16x1xi32>
    %16 = arith.muli %15, %cst_3 : tensor<1x16x1xi32>
    %17 = tt.broadcast %13 : tensor<2x1x1x!tt.ptr<f16>> -> tensor<2x16x1x!tt.ptr<f16>>
    %18 = tt.broadcast %16 : tensor<1x16x1xi32> -> tensor<2x16x1xi32>
    %19 = tt.addptr %17, %18 : tensor<2x16x1x!tt.ptr<f16>>, tensor<2x16x1xi32>
    %20 = tt.expand_dims %9 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %21 = tt.expand_dims %20 {axis = 1 : i32} : tensor<1x128xi32> -> tensor<1x1x128xi32>
    %22 = tt.broadcast %19 : tensor<2x16x1x!tt.ptr<f16>> -> tensor<2x16x128x!tt.ptr<f16>>
    %23 = tt.broadcast %21 : tensor<1x1x128xi32> -> tensor<2x16x128xi32>
    %24 = tt.addptr %22, %23 : tensor<2x16x128x!tt.ptr<f16>>, tensor<2x16x128xi32>
    %25 = tt.load %24 : tensor<2x16x128x!tt.ptr<f16>>
    %26 = arith.muli %6, %cst_4 : tensor<2x1x1xi32>
    %27 = arith.muli %26, %cst_2 : tensor<2x1x1xi32>
    %28 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<2x1x1x!tt.ptr<f16>>
    %29 = tt.addptr %28, %27 : tensor<2x1x1x!tt.ptr<f16>>, tensor<2x1x1xi32>
    %30 = tt.expand_dims %20 {axis = 2 : i32} : tensor<1x128xi32> -> tensor<1x128x1xi32>
    %31 = arith.muli %30, %cst_1 : tensor<1x128x1xi32>
    %32 = tt.broadcast %29 : tensor<2x1x1x!tt.ptr<f16>> -> tensor<2x128x1x!tt.ptr<f16>>
    %33 = tt.broadcast %31 : tensor<1x128x1xi32> -> tensor<2x128x1xi32>
    %34 = tt.addptr %32, %33 : tensor<2x128x1x!tt.ptr<f16>>, tensor<2x128x1xi32>
    %35 = tt.expand_dims %8 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %36 = tt.expand_dims %35 {axis = 1 : i32} : tensor<1x64xi32> -> tensor<1x1x64xi32>
    %37 = tt.broadcast %34 : tensor<2x128x1x!tt.ptr<f16>> -> tensor<2x128x64x!tt.ptr<f16>>
    %38 = tt.broadcast %36 : tensor<1x1x64xi32> -> tensor<2x128x64xi32>
    %39 = tt.addptr %37, %38 : tensor<2x128x64x!tt.ptr<f16>>, tensor<2x128x64xi32>
    %40 = tt.load %39 : tensor<2x128x64x!tt.ptr<f16>>
    %41 = arith.muli %10, %cst_2 : tensor<2x1x1xi32>
    %42 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<2x1x1x!tt.ptr<f32>>
    %43 = tt.addptr %42, %41 : tensor<2x1x1x!tt.ptr<f32>>, tensor<2x1x1xi32>
    %44 = arith.muli %15, %cst_0 : tensor<1x16x1xi32>
    %45 = tt.broadcast %43 : tensor<2x1x1x!tt.ptr<f32>> -> tensor<2x16x1x!tt.ptr<f32>>
    %46 = tt.broadcast %44 : tensor<1x16x1xi32> -> tensor<2x16x1xi32>
    %47 = tt.addptr %45, %46 : tensor<2x16x1x!tt.ptr<f32>>, tensor<2x16x1xi32>
    %48 = tt.broadcast %47 : tensor<2x16x1x!tt.ptr<f32>> -> tensor<2x16x64x!tt.ptr<f32>>
    %49 = tt.broadcast %36 : tensor<1x1x64xi32> -> tensor<2x16x64xi32>
    %50 = tt.addptr %48, %49 : tensor<2x16x64x!tt.ptr<f32>>, tensor<2x16x64xi32>
    %51 = tt.dot %25, %40, %cst, inputPrecision = tf32 : tensor<2x16x128xf16> * tensor<2x128x64xf16> -> tensor<2x16x64xf32>
    tt.store %50, %51 : tensor<2x16x64x!tt.ptr<f32>>
    tt.return
  }
}
