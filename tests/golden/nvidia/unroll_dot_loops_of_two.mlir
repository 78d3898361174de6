// Loops of warp-group dots over two buffers, which ptxas does not unroll: a long one is unrolled by them, and no index
// wraps to 0; one of which less than four iterations would be left stays.
// RUN: tessera compile %s --kernel long --target sm_90a --num-stages 2 --emit ptx -o - | FileCheck %s --check-prefix=LONG
// RUN: tessera compile %s --kernel short --target sm_90a --num-stages 2 --emit ptx -o - | FileCheck %s --check-prefix=SHORT

// LONG: .entry long
// LONG: [[LOOP:.L__BB[0-9_]+]]:
// LONG-NEXT: .pragma "nounroll";
// LONG-NOT: selp.b32 %r{{[0-9]+}}, 0, %r
// LONG-COUNT-2: wgmma.fence
// LONG-NOT: wgmma.fence
// LONG: bra {{.*}}[[LOOP]];
// LONG: ret;
// SHORT: .entry short
// SHORT-NOT: nounroll
// SHORT: selp.b32 %r{{[0-9]+}}, 0, %r
// SHORT: ret;
tt.func public @long(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %k = arith.constant 544 : i32
  %c32 = arith.constant 32 : i32
  %cst = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %cst_0 = arith.constant dense<544> : tensor<64x1xi32>
  %2 = arith.muli %1, %cst_0 : tensor<64x1xi32>
  %3 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %4 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %6 = tt.broadcast %5 : tensor<1x32xi32> -> tensor<64x32xi32>
  %7 = arith.addi %3, %6 : tensor<64x32xi32>
  %8 = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %9 = tt.addptr %8, %7 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %10 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %11 = tt.expand_dims %10 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %12 = tt.broadcast %11 : tensor<32x1xi32> -> tensor<32x32xi32>
  %13 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %14 = tt.expand_dims %13 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cst_1 = arith.constant dense<544> : tensor<1x32xi32>
  %15 = arith.muli %14, %cst_1 : tensor<1x32xi32>
  %16 = tt.broadcast %15 : tensor<1x32xi32> -> tensor<32x32xi32>
  %17 = arith.addi %12, %16 : tensor<32x32xi32>
  %18 = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %19 = tt.addptr %18, %17 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %cst_2 = arith.constant dense<32> : tensor<64x32xi32>
  %cst_3 = arith.constant dense<32> : tensor<32x32xi32>
  %20:3 = scf.for %n = %c0 to %k step %c32 iter_args(%s = %cst, %pa = %9, %pb = %19) -> (tensor<64x32xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
    %31 = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %32 = tt.load %pb : tensor<32x32x!tt.ptr<f16>>
    %33 = tt.dot %31, %32, %s : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    %34 = tt.addptr %pa, %cst_2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %35 = tt.addptr %pb, %cst_3 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %33, %34, %35 : tensor<64x32xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
  }
  %21 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %22 = tt.expand_dims %21 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %cst_4 = arith.constant dense<32> : tensor<64x1xi32>
  %23 = arith.muli %22, %cst_4 : tensor<64x1xi32>
  %24 = tt.broadcast %23 : tensor<64x1xi32> -> tensor<64x32xi32>
  %25 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %26 = tt.expand_dims %25 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %27 = tt.broadcast %26 : tensor<1x32xi32> -> tensor<64x32xi32>
  %28 = arith.addi %24, %27 : tensor<64x32xi32>
  %29 = tt.splat %c : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  %30 = tt.addptr %29, %28 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
  tt.store %30, %20#0 : tensor<64x32x!tt.ptr<f32>>
  tt.return
}
tt.func public @short(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %k = arith.constant 224 : i32
  %c32 = arith.constant 32 : i32
  %cst = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %cst_0 = arith.constant dense<224> : tensor<64x1xi32>
  %2 = arith.muli %1, %cst_0 : tensor<64x1xi32>
  %3 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %4 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %6 = tt.broadcast %5 : tensor<1x32xi32> -> tensor<64x32xi32>
  %7 = arith.addi %3, %6 : tensor<64x32xi32>
  %8 = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %9 = tt.addptr %8, %7 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %10 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %11 = tt.expand_dims %10 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %12 = tt.broadcast %11 : tensor<32x1xi32> -> tensor<32x32xi32>
  %13 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %14 = tt.expand_dims %13 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cst_1 = arith.constant dense<224> : tensor<1x32xi32>
  %15 = arith.muli %14, %cst_1 : tensor<1x32xi32>
  %16 = tt.broadcast %15 : tensor<1x32xi32> -> tensor<32x32xi32>
  %17 = arith.addi %12, %16 : tensor<32x32xi32>
  %18 = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %19 = tt.addptr %18, %17 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %cst_2 = arith.constant dense<32> : tensor<64x32xi32>
  %cst_3 = arith.constant dense<32> : tensor<32x32xi32>
  %20:3 = scf.for %n = %c0 to %k step %c32 iter_args(%s = %cst, %pa = %9, %pb = %19) -> (tensor<64x32xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
    %31 = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %32 = tt.load %pb : tensor<32x32x!tt.ptr<f16>>
    %33 = tt.dot %31, %32, %s : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    %34 = tt.addptr %pa, %cst_2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %35 = tt.addptr %pb, %cst_3 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %33, %34, %35 : tensor<64x32xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
  }
  %21 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %22 = tt.expand_dims %21 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %cst_4 = arith.constant dense<32> : tensor<64x1xi32>
  %23 = arith.muli %22, %cst_4 : tensor<64x1xi32>
  %24 = tt.broadcast %23 : tensor<64x1xi32> -> tensor<64x32xi32>
  %25 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %26 = tt.expand_dims %25 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %27 = tt.broadcast %26 : tensor<1x32xi32> -> tensor<64x32xi32>
  %28 = arith.addi %24, %27 : tensor<64x32xi32>
  %29 = tt.splat %c : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  %30 = tt.addptr %29, %28 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
  tt.store %30, %20#0 : tensor<64x32x!tt.ptr<f32>>
  tt.return
}
