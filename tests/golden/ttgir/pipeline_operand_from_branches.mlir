// An operand that branches compute from a load, here the lower or upper four bits of bytes: its load is copied ahead as
// if there were no branches. The scales of the columns, which fit one access of a thread, are copied in the layout in
// which they are used: no shuffles in the loop.
// RUN: tessera compile %s --target sm_90a --num-warps 2 --num-stages 2 --emit ttgir -o - | FileCheck %s
// CHECK-LABEL: @unpacked
// CHECK: scf.for
// CHECK-NOT: tt.load
// CHECK-DAG: ttg.async_copy_global_to_local {{.*}} : tensor<32x16x!tt.ptr<i8>, #[[BYTES:.*]]> ->
// CHECK-DAG: ttg.async_copy_global_to_local {{.*}} : tensor<16x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #[[BYTES]]}>> ->
// CHECK-NOT: tt.load
// CHECK: scf.if
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.dot
module {
  tt.func public @unpacked(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %c2_i32 = arith.constant 2 : i32
    %c32_i32 = arith.constant 32 : i32
    %c512_i32 = arith.constant 512 : i32
    %c16_i32 = arith.constant 16 : i32
    %cst = arith.constant dense<15> : tensor<32x16xi8>
    %cst_0 = arith.constant dense<4> : tensor<32x16xi8>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %cst_2 = arith.constant dense<192> : tensor<16x1xi32>
    %2 = arith.muli %1, %cst_2 : tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1xi32> -> tensor<16x32xi32>
    %4 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %6 = tt.broadcast %5 : tensor<1x32xi32> -> tensor<16x32xi32>
    %7 = arith.addi %3, %6 : tensor<16x32xi32>
    %8 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %9 = tt.expand_dims %8 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %cst_3 = arith.constant dense<16> : tensor<32x1xi32>
    %10 = arith.muli %9, %cst_3 : tensor<32x1xi32>
    %11 = tt.broadcast %10 : tensor<32x1xi32> -> tensor<32x16xi32>
    %12 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %13 = tt.expand_dims %12 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %14 = tt.broadcast %13 : tensor<1x16xi32> -> tensor<32x16xi32>
    %15 = arith.addi %11, %14 : tensor<32x16xi32>
    %16 = scf.for %n = %c0_i32 to %arg3 step %c1_i32 iter_args(%acc = %cst_1) -> (tensor<16x16xf32>)  : i32 {
      %27 = arith.muli %n, %c32_i32 : i32
      %28 = tt.addptr %arg0, %27 : !tt.ptr<f16>, i32
      %29 = tt.splat %28 : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
      %30 = tt.addptr %29, %7 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %31 = tt.load %30 : tensor<16x32x!tt.ptr<f16>>
      %32 = arith.divsi %n, %c2_i32 : i32
      %33 = arith.muli %32, %c512_i32 : i32
      %34 = tt.addptr %arg1, %33 : !tt.ptr<i8>, i32
      %35 = tt.splat %34 : !tt.ptr<i8> -> tensor<32x16x!tt.ptr<i8>>
      %36 = tt.addptr %35, %15 : tensor<32x16x!tt.ptr<i8>>, tensor<32x16xi32>
      %37 = tt.load %36 : tensor<32x16x!tt.ptr<i8>>
      %38 = arith.remsi %n, %c2_i32 : i32
      %39 = arith.cmpi eq, %38, %c0_i32 : i32
      %40 = scf.if %39 -> (tensor<32x16xi8>) {
        %51 = arith.andi %37, %cst : tensor<32x16xi8>
        scf.yield %51 : tensor<32x16xi8>
      } else {
        %51 = arith.shrui %37, %cst_0 : tensor<32x16xi8>
        scf.yield %51 : tensor<32x16xi8>
      }
      %41 = arith.muli %n, %c16_i32 : i32
      %42 = tt.addptr %arg2, %41 : !tt.ptr<f16>, i32
      %43 = tt.splat %42 : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
      %44 = tt.addptr %43, %12 : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
      %45 = tt.load %44 : tensor<16x!tt.ptr<f16>>
      %46 = tt.expand_dims %45 {axis = 0 : i32} : tensor<16xf16> -> tensor<1x16xf16>
      %47 = tt.broadcast %46 : tensor<1x16xf16> -> tensor<32x16xf16>
      %48 = arith.uitofp %40 : tensor<32x16xi8> to tensor<32x16xf16>
      %49 = arith.mulf %48, %47 : tensor<32x16xf16>
      %50 = tt.dot %31, %49, %acc : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
      scf.yield %50 : tensor<16x16xf32>
    }
    %17 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %18 = tt.expand_dims %17 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %cst_4 = arith.constant dense<16> : tensor<16x1xi32>
    %19 = arith.muli %18, %cst_4 : tensor<16x1xi32>
    %20 = tt.broadcast %19 : tensor<16x1xi32> -> tensor<16x16xi32>
    %21 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %22 = tt.expand_dims %21 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %23 = tt.broadcast %22 : tensor<1x16xi32> -> tensor<16x16xi32>
    %24 = arith.addi %20, %23 : tensor<16x16xi32>
    %25 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %26 = tt.addptr %25, %24 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %26, %16 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
