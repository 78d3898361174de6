// Loops that alternate-waves cuts have one buffer for each operand (amd/alternate_waves.mlir), others two. Where half of
// the waves keeps LDS busy for more than three quarters of the clocks of the MFMA, there are two. Here that is 1024 of
// 1024 clocks on gfx950: 128 KiB at 128 bytes a clock, 32 MFMA of 32 clocks.
// RUN: tessera compile %s --target gfx950 --num-warps 8 --num-stages 2 --emit ttgir -o - | FileCheck %s
// CHECK-LABEL: tt.func public @gemm
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x256x64xbf16
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x256xbf16
// CHECK: scf.for

module {
  tt.func public @gemm(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.000000e+00> : tensor<256x256xf32>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %width = arith.constant dense<256> : tensor<256x1xi32>
    %widthOfB = arith.constant dense<256> : tensor<64x1xi32>
    %step = arith.constant dense<64> : tensor<256x64xi32>
    %stepOfB = arith.constant dense<16384> : tensor<64x256xi32>
    %m = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %kk = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %m {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
    %columns = tt.expand_dims %m {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %kOfA = tt.expand_dims %kk {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %kOfB = tt.expand_dims %kk {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %stride = tt.splat %k : i32 -> tensor<256x1xi32>
    %rowsOfA = arith.muli %rows, %stride : tensor<256x1xi32>
    %0 = tt.broadcast %rowsOfA : tensor<256x1xi32> -> tensor<256x64xi32>
    %1 = tt.broadcast %kOfA : tensor<1x64xi32> -> tensor<256x64xi32>
    %2 = arith.addi %0, %1 : tensor<256x64xi32>
    %3 = tt.splat %a : !tt.ptr<bf16> -> tensor<256x64x!tt.ptr<bf16>>
    %4 = tt.addptr %3, %2 : tensor<256x64x!tt.ptr<bf16>>, tensor<256x64xi32>
    %rowsOfB = arith.muli %kOfB, %widthOfB : tensor<64x1xi32>
    %5 = tt.broadcast %rowsOfB : tensor<64x1xi32> -> tensor<64x256xi32>
    %6 = tt.broadcast %columns : tensor<1x256xi32> -> tensor<64x256xi32>
    %7 = arith.addi %5, %6 : tensor<64x256xi32>
    %8 = tt.splat %b : !tt.ptr<bf16> -> tensor<64x256x!tt.ptr<bf16>>
    %9 = tt.addptr %8, %7 : tensor<64x256x!tt.ptr<bf16>>, tensor<64x256xi32>
    %10:3 = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero, %pa = %4, %pb = %9) -> (tensor<256x256xf32>, tensor<256x64x!tt.ptr<bf16>>, tensor<64x256x!tt.ptr<bf16>>) : i32 {
      %va = tt.load %pa : tensor<256x64x!tt.ptr<bf16>>
      %vb = tt.load %pb : tensor<64x256x!tt.ptr<bf16>>
      %d = tt.dot %va, %vb, %sum : tensor<256x64xbf16> * tensor<64x256xbf16> -> tensor<256x256xf32>
      %na = tt.addptr %pa, %step : tensor<256x64x!tt.ptr<bf16>>, tensor<256x64xi32>
      %nb = tt.addptr %pb, %stepOfB : tensor<64x256x!tt.ptr<bf16>>, tensor<64x256xi32>
      scf.yield %d, %na, %nb : tensor<256x256xf32>, tensor<256x64x!tt.ptr<bf16>>, tensor<64x256x!tt.ptr<bf16>>
    }
    %11 = arith.muli %rows, %width : tensor<256x1xi32>
    %12 = tt.broadcast %11 : tensor<256x1xi32> -> tensor<256x256xi32>
    %13 = tt.broadcast %columns : tensor<1x256xi32> -> tensor<256x256xi32>
    %14 = arith.addi %12, %13 : tensor<256x256xi32>
    %15 = tt.splat %c : !tt.ptr<f32> -> tensor<256x256x!tt.ptr<f32>>
    %16 = tt.addptr %15, %14 : tensor<256x256x!tt.ptr<f32>>, tensor<256x256xi32>
    tt.store %16, %10#0 : tensor<256x256x!tt.ptr<f32>>
    tt.return
  }
}
