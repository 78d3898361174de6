// Loops that fill buffers through registers (tritongpu-pipeline on AMD). With two buffers and MFMA that only accumulate,
// loads are two iterations ahead, with two stages as well, since no stage of LDS is needed for it: a loop carries the
// values loaded for the next iteration, stores them, and loads into their registers. Two buffers are only taken where
// LDS has room for waves that hide latency.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 --emit ttgir -o - --remarks=LoopPipelined 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=AHEAD %s < %t
// RUN: tessera compile %s --target gfx1201 --num-warps 4 --num-stages 2 --emit ttgir -o /dev/null --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: tessera compile %s --target gfx1201 --num-warps 2 --num-stages 2 --emit ttgir -o /dev/null --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --num-stages 2 --emit ttgir -o /dev/null --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=ONE

// AHEAD: 2 of the loop's loads are issued 2 iterations ahead of their dots, through registers; 2 stages take 16384 bytes
// TWO: 2 of the loop's loads are issued 1 iteration ahead of their dots, through registers; 2 stages take 16384 bytes
// ONE: 2 of the loop's loads are issued 1 iteration ahead of their dots, through registers; 1 stage takes 8192 bytes

// Iteration 0 is stored, iteration 1 stays in registers, as do the first operands of iteration 0 (tritongpu-prefetch).
// CHECK-LABEL: @matmul
// CHECK: %[[A0:.*]] = tt.load %{{[^,]*}} : tensor<64x32x!tt.ptr<f16>
// CHECK: %[[B0:.*]] = tt.load %{{[^,]*}} : tensor<32x64x!tt.ptr<f16>
// CHECK: %[[A1:.*]] = tt.load %{{.*}}, %{{.*}} : tensor<64x32x!tt.ptr<f16>
// CHECK: %[[B1:.*]] = tt.load %{{.*}}, %{{.*}} : tensor<32x64x!tt.ptr<f16>
// CHECK: ttg.local_store %[[A0]]
// CHECK: ttg.local_store %[[B0]]
// CHECK: %[[X:.*]] = ttg.local_load {{.*}} -> tensor<64x16xf16
// CHECK: %[[Y:.*]] = ttg.local_load {{.*}} -> tensor<16x64xf16
// CHECK: scf.for {{.*}}, %[[A:.*]] = %[[A1]], %[[B:.*]] = %[[B1]], %[[FIRSTA:.*]] = %[[X]], %[[FIRSTB:.*]] = %[[Y]]) ->
// CHECK: %[[RESTA:.*]] = ttg.local_load {{.*}} -> tensor<64x16xf16
// CHECK: %[[RESTB:.*]] = ttg.local_load {{.*}} -> tensor<16x64xf16
// CHECK: tt.dot %[[FIRSTA]], %[[FIRSTB]]
// CHECK-NEXT: tt.dot %[[RESTA]], %[[RESTB]]
// CHECK: ttg.local_store %[[A]],
// CHECK: ttg.local_store %[[B]],
// CHECK: %[[NEXTA:.*]] = tt.load
// CHECK: %[[NEXTB:.*]] = tt.load
// CHECK: %[[NX:.*]] = ttg.local_load
// CHECK: %[[NY:.*]] = ttg.local_load
// CHECK: scf.yield {{.*}}, %[[NEXTA]], %[[NEXTB]], %[[NX]], %[[NY]] :
module {
  tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %nexta = arith.constant dense<32> : tensor<64x32xi32>
    %nextb = arith.constant dense<2048> : tensor<32x64xi32>
    %rowa = arith.constant dense<1024> : tensor<64x1xi32>
    %rowb = arith.constant dense<64> : tensor<32x1xi32>
    %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %m0 = tt.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %ma = arith.muli %m1, %rowa : tensor<64x1xi32>
    %mab = tt.broadcast %ma : tensor<64x1xi32> -> tensor<64x32xi32>
    %k0b = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<64x32xi32>
    %oa = arith.addi %mab, %k0b : tensor<64x32xi32>
    %kb = arith.muli %k1, %rowb : tensor<32x1xi32>
    %kbb = tt.broadcast %kb : tensor<32x1xi32> -> tensor<32x64xi32>
    %m0b = tt.broadcast %m0 : tensor<1x64xi32> -> tensor<32x64xi32>
    %ob = arith.addi %kbb, %m0b : tensor<32x64xi32>
    %sa = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %sb = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
    %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb = tt.addptr %sb, %ob : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %pa, %y = %pb) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
      %la = tt.load %x : tensor<64x32x!tt.ptr<f16>>
      %lb = tt.load %y : tensor<32x64x!tt.ptr<f16>>
      %d = tt.dot %la, %lb, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %nx = tt.addptr %x, %nexta : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %ny = tt.addptr %y, %nextb : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %d, %nx, %ny : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
    }
    %m1c = arith.muli %m1, %rowa : tensor<64x1xi32>
    %cr = tt.broadcast %m1c : tensor<64x1xi32> -> tensor<64x64xi32>
    %cc = tt.broadcast %m0 : tensor<1x64xi32> -> tensor<64x64xi32>
    %oc = arith.addi %cr, %cc : tensor<64x64xi32>
    %sc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %pc = tt.addptr %sc, %oc : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %pc, %r#0 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
