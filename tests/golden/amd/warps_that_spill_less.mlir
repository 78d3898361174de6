// Two dots of an operand in a loop of four warps on RDNA 3. What tensors hold fits into the registers of a thread, but not
// with the operands that the dots read: the loop spills, and is compiled again by eight warps. What decides is the code,
// so that the TTGIR alone is that of the requested warps.
// RUN: tessera compile %s --target gfx1100 --emit amdgcn -o - --remarks="WarpsDoubled|FewerStages" 2>&1 | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --emit ttgir -o - | FileCheck %s --check-prefix=FOUR
// CHECK: remark: 'two' has 8 warps: with 4, an iteration of its loops spills {{[1-9][0-9]*}} bytes of a thread's registers, and 0 with these [more-warps:WarpsDoubled]
// CHECK-NOT: scratch_
// CHECK: .max_flat_workgroup_size: 256
// CHECK: .vgpr_spill_count: 0
// FOUR: "ttg.num-warps" = 4

module {
  tt.func public @two(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<16> : tensor<128x1xi32>
    %cst_2 = arith.constant dense<16> : tensor<16x1xi32>
    %cst_3 = arith.constant dense<1024> : tensor<16x1xi32>
    %cst_4 = arith.constant dense<1024> : tensor<128x1xi32>
    %c1024_i32 = arith.constant 1024 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %4 = arith.muli %3, %cst_4 : tensor<128x1xi32>
    %5 = tt.expand_dims %1 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %6 = tt.broadcast %5 : tensor<1x16xi32> -> tensor<128x16xi32>
    %7 = tt.expand_dims %1 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %8 = arith.muli %7, %cst_3 : tensor<16x1xi32>
    %9 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %10 = tt.broadcast %9 : tensor<1x128xi32> -> tensor<16x128xi32>
    %11 = arith.muli %7, %cst_2 : tensor<16x1xi32>
    %12 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %13 = tt.broadcast %12 : tensor<1x64xi32> -> tensor<16x64xi32>
    %14:2 = scf.for %arg6 = %c0_i32 to %arg5 step %c16_i32 iter_args(%arg7 = %cst_0, %arg8 = %cst) -> (tensor<128x128xf32>, tensor<128x64xf32>)  : i32 {
      %30 = tt.addptr %arg0, %arg6 : !tt.ptr<f16>, i32
      %31 = tt.splat %30 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %32 = tt.addptr %31, %4 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %33 = tt.broadcast %32 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x16x!tt.ptr<f16>>
      %34 = tt.addptr %33, %6 : tensor<128x16x!tt.ptr<f16>>, tensor<128x16xi32>
      %35 = tt.load %34 : tensor<128x16x!tt.ptr<f16>>
      %36 = arith.muli %arg6, %c1024_i32 : i32
      %37 = tt.addptr %arg1, %36 : !tt.ptr<f16>, i32
      %38 = tt.splat %37 : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %39 = tt.addptr %38, %8 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %40 = tt.broadcast %39 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x128x!tt.ptr<f16>>
      %41 = tt.addptr %40, %10 : tensor<16x128x!tt.ptr<f16>>, tensor<16x128xi32>
      %42 = tt.load %41 : tensor<16x128x!tt.ptr<f16>>
      %43 = tt.dot %35, %42, %arg7, inputPrecision = tf32 : tensor<128x16xf16> * tensor<16x128xf16> -> tensor<128x128xf32>
      %44 = arith.muli %arg6, %c16_i32 : i32
      %45 = tt.addptr %arg2, %44 : !tt.ptr<f16>, i32
      %46 = tt.splat %45 : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %47 = tt.addptr %46, %11 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %48 = tt.broadcast %47 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x64x!tt.ptr<f16>>
      %49 = tt.addptr %48, %13 : tensor<16x64x!tt.ptr<f16>>, tensor<16x64xi32>
      %50 = tt.load %49 : tensor<16x64x!tt.ptr<f16>>
      %51 = tt.dot %35, %50, %arg8, inputPrecision = tf32 : tensor<128x16xf16> * tensor<16x64xf16> -> tensor<128x64xf32>
      scf.yield %43, %51 : tensor<128x128xf32>, tensor<128x64xf32>
    }
    %15 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %16 = arith.muli %15, %cst_4 : tensor<128x1xi32>
    %17 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %18 = tt.addptr %17, %16 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %19 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %20 = tt.broadcast %18 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x128x!tt.ptr<f32>>
    %21 = tt.broadcast %19 : tensor<1x128xi32> -> tensor<128x128xi32>
    %22 = tt.addptr %20, %21 : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %22, %14#0 : tensor<128x128x!tt.ptr<f32>>
    %23 = arith.muli %15, %cst_1 : tensor<128x1xi32>
    %24 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %25 = tt.addptr %24, %23 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %26 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %27 = tt.broadcast %25 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x64x!tt.ptr<f32>>
    %28 = tt.broadcast %26 : tensor<1x64xi32> -> tensor<128x64xi32>
    %29 = tt.addptr %27, %28 : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
    tt.store %29, %14#1 : tensor<128x64x!tt.ptr<f32>>
    tt.return
  }
}
