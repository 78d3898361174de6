// The range check of a buffer access counts the scalar offset on gfx9: in the copies of a lane that is masked off, a part
// of the offset beyond the end is in the scalar offset. The emulator reports no access out of bounds.
// RUN: mkdir -p %t && cp %s %t/k.ttir && \
// RUN:   echo '{"kernel": "rows", "ttir": "k.ttir", "grid": [1], "num_warps": 4, "num_stages": 2, "args": [{"name": "a", "dtype": "bf16", "shape": [64, 512]}, {"name": "b", "dtype": "bf16", "shape": [64, 512]}, {"name": "c", "dtype": "f32", "shape": [64, 64], "fill": 0}, {"name": "index", "dtype": "i32", "shape": [64], "fill": "randint", "lo": 0, "hi": 128}, {"name": "K", "scalar": 512, "type": "i32"}, {"name": "valid", "scalar": 64, "type": "i32"}]}' > %t/launch.json
// RUN: tessera run %t/launch.json --device emulator:gfx950 --out %t/out --counters | FileCheck %s
// CHECK: ttg.async_copy_global_to_local
module {
  tt.func public @rows(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c63_i32 = arith.constant 63 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xbf16>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_1 = arith.constant dense<64> : tensor<64x64xi32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg3 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %3 = tt.load %2 : tensor<64x!tt.ptr<i32>>
    %4 = tt.splat %arg5 : i32 -> tensor<64xi32>
    %5 = arith.cmpi slt, %3, %4 : tensor<64xi32>
    %6 = tt.expand_dims %3 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %7 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
    %8 = arith.muli %6, %7 : tensor<64x1xi32>
    %9 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %10 = tt.addptr %9, %8 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %11 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %12 = tt.broadcast %10 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %13 = tt.broadcast %11 : tensor<1x64xi32> -> tensor<64x64xi32>
    %14 = tt.addptr %12, %13 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %15 = tt.splat %arg4 : i32 -> tensor<1x64xi32>
    %16 = arith.muli %11, %15 : tensor<1x64xi32>
    %17 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<1x64x!tt.ptr<bf16>>
    %18 = tt.addptr %17, %16 : tensor<1x64x!tt.ptr<bf16>>, tensor<1x64xi32>
    %19 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %20 = tt.broadcast %18 : tensor<1x64x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %21 = tt.broadcast %19 : tensor<64x1xi32> -> tensor<64x64xi32>
    %22 = tt.addptr %20, %21 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %23 = arith.addi %arg4, %c63_i32 : i32
    %24 = arith.divsi %23, %c64_i32 : i32
    %25 = tt.expand_dims %5 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %26 = tt.broadcast %25 : tensor<64x1xi1> -> tensor<64x64xi1>
    %27:3 = scf.for %arg6 = %c0_i32 to %24 step %c1_i32 iter_args(%arg7 = %14, %arg8 = %22, %arg9 = %cst_2) -> (tensor<64x64x!tt.ptr<bf16>>, tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xf32>)  : i32 {
      %35 = arith.muli %arg6, %c64_i32 : i32
      %36 = arith.subi %arg4, %35 : i32
      %37 = tt.splat %36 : i32 -> tensor<1x64xi32>
      %38 = arith.cmpi slt, %11, %37 : tensor<1x64xi32>
      %39 = tt.broadcast %38 : tensor<1x64xi1> -> tensor<64x64xi1>
      %40 = arith.andi %26, %39 : tensor<64x64xi1>
      %41 = tt.load %arg7, %40, %cst : tensor<64x64x!tt.ptr<bf16>>
      %42 = tt.splat %36 : i32 -> tensor<64x1xi32>
      %43 = arith.cmpi slt, %19, %42 : tensor<64x1xi32>
      %44 = tt.broadcast %43 : tensor<64x1xi1> -> tensor<64x64xi1>
      %45 = tt.load %arg8, %44, %cst : tensor<64x64x!tt.ptr<bf16>>
      %46 = tt.dot %41, %45, %arg9, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      %47 = tt.addptr %arg7, %cst_1 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %48 = tt.addptr %arg8, %cst_1 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      scf.yield %47, %48, %46 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xf32>
    }
    %28 = tt.expand_dims %5 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %29 = arith.muli %19, %cst_0 : tensor<64x1xi32>
    %30 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %31 = tt.addptr %30, %29 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %32 = tt.broadcast %31 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %33 = tt.addptr %32, %13 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %34 = tt.broadcast %28 : tensor<64x1xi1> -> tensor<64x64xi1>
    tt.store %33, %27#2, %34 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
