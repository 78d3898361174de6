// A kernel whose threads spill much is compiled again with twice the warps: four blocks of 128 x 128 f16 are loaded
// before any of them is used, of which each element takes a register in sums by halves. Tensors hold fewer registers
// at the dots than there are, so that the TTGIR does not tell.
// REQUIRES: ptxas
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit cubin -o /dev/null --metadata - --remarks 2>&1 | FileCheck %s
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit cubin -o /dev/null --metadata - --verify-each | FileCheck %s --check-prefix=OBSERVED
// OBSERVED: "num_warps": 8
// CHECK: 'many_blocks' has 8 warps: with 4, a thread spills {{[1-9][0-9][0-9]+}} bytes of its registers, and 0 with these [more-warps:WarpsDoubled]
// CHECK: 'many_blocks' takes {{[0-9]+}} registers of a thread (0 bytes spilled)
// CHECK-SAME: blocks of 8 warps
// CHECK: "num_warps": 8

// Not if the number of warps is exact, nor where PTX is the last stage, nor if threads spill less.
// RUN: tessera compile %s --target sm_90a --num-warps 4 --exact-num-warps --emit cubin -o /dev/null --metadata - --remarks 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit ptx -o /dev/null --metadata - --remarks 2>&1 | FileCheck %s --check-prefix=FOUR
// FOUR-NOT: WarpsDoubled
// FOUR: "num_warps": 4
// RUN: tessera compile %s --target sm_90a --num-warps 8 --emit cubin -o /dev/null --metadata - --remarks 2>&1 | FileCheck %s --check-prefix=EIGHT
// EIGHT-NOT: WarpsDoubled
// EIGHT: "num_warps": 8
tt.func public @many_blocks(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
  %c49152_i32 = arith.constant 49152 : i32
  %c32768_i32 = arith.constant 32768 : i32
  %c16384_i32 = arith.constant 16384 : i32
  %cst_0 = arith.constant dense<128> : tensor<128x1xi32>
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %2 = arith.muli %1, %cst_0 : tensor<128x1xi32>
  %3 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %4 = tt.broadcast %2 : tensor<128x1xi32> -> tensor<128x128xi32>
  %5 = tt.broadcast %3 : tensor<1x128xi32> -> tensor<128x128xi32>
  %6 = arith.addi %4, %5 : tensor<128x128xi32>
  %7 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  %9 = tt.load %8 : tensor<128x128x!tt.ptr<f16>>
  %10 = tt.addptr %arg0, %c16384_i32 : !tt.ptr<f16>, i32
  %11 = tt.splat %10 : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %12 = tt.addptr %11, %6 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  %13 = tt.load %12 : tensor<128x128x!tt.ptr<f16>>
  %14 = tt.addptr %arg0, %c32768_i32 : !tt.ptr<f16>, i32
  %15 = tt.splat %14 : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %16 = tt.addptr %15, %6 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  %17 = tt.load %16 : tensor<128x128x!tt.ptr<f16>>
  %18 = tt.addptr %arg0, %c49152_i32 : !tt.ptr<f16>, i32
  %19 = tt.splat %18 : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %20 = tt.addptr %19, %6 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  %21 = tt.load %20 : tensor<128x128x!tt.ptr<f16>>
  %22 = arith.mulf %9, %13 : tensor<128x128xf16>
  %23 = "tt.reduce"(%22) <{axis = 1 : i32}> ({
  ^bb0(%arg3: f16, %arg4: f16):
    %42 = arith.addf %arg3, %arg4 : f16
    tt.reduce.return %42 : f16
  }) : (tensor<128x128xf16>) -> tensor<128xf16>
  %24 = arith.mulf %17, %21 : tensor<128x128xf16>
  %25 = "tt.reduce"(%24) <{axis = 1 : i32}> ({
  ^bb0(%arg3: f16, %arg4: f16):
    %42 = arith.addf %arg3, %arg4 : f16
    tt.reduce.return %42 : f16
  }) : (tensor<128x128xf16>) -> tensor<128xf16>
  %26 = arith.addf %23, %25 : tensor<128xf16>
  %27 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %28 = tt.addptr %27, %6 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  %29 = tt.load %28 : tensor<128x128x!tt.ptr<f16>>
  %30 = tt.dot %29, %13, %cst, inputPrecision = tf32 : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
  %31 = tt.dot %29, %17, %cst, inputPrecision = tf32 : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
  %32 = arith.mulf %30, %31 : tensor<128x128xf32>
  %33 = tt.dot %29, %9, %32, inputPrecision = tf32 : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
  %34 = arith.extf %21 : tensor<128x128xf16> to tensor<128x128xf32>
  %35 = arith.subf %33, %34 : tensor<128x128xf32>
  %36 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %37 = tt.addptr %36, %6 : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  %38 = tt.expand_dims %26 {axis = 1 : i32} : tensor<128xf16> -> tensor<128x1xf16>
  %39 = arith.extf %38 : tensor<128x1xf16> to tensor<128x1xf32>
  %40 = tt.broadcast %39 : tensor<128x1xf32> -> tensor<128x128xf32>
  %41 = arith.mulf %35, %40 : tensor<128x128xf32>
  tt.store %37, %41 : tensor<128x128x!tt.ptr<f32>>
  tt.return
}
