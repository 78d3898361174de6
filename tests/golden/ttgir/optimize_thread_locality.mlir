// tritongpu-optimize-thread-locality: a reduction in a loop is done inside the thread in every iteration, and across
// lanes once after the loop. The axis is split into 2 (registers) x 32 (lanes) x 4 (registers).
// RUN: tessera opt %s -tritongpu-optimize-thread-locality --verify-each | FileCheck %s
// CHECK: %[[NEUTRAL:.*]] = arith.constant dense<-0.000000e+00> : tensor<32x32xf32
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[NEUTRAL]]) -> (tensor<32x32xf32
// CHECK: %[[R:.*]] = tt.reshape %{{.*}} : tensor<32x256xf32, {{.*}}> -> tensor<32x2x32x4xf32
// CHECK: %[[X:.*]] = "tt.reduce"(%[[R]]) <{axis = 3 : i32}>
// CHECK: %[[Y:.*]] = "tt.reduce"(%[[X]]) <{axis = 1 : i32}>
// CHECK: %[[S:.*]] = arith.addf %[[ACC]], %[[Y]]
// CHECK-NOT: "tt.reduce"
// CHECK: scf.yield %[[S]]
// CHECK: "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
// CHECK: arith.addf
// CHECK: tt.store
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<32x256x!tt.ptr<f32>, #blocked>, %out: tensor<32x!tt.ptr<f32>, #blocked1>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %cst) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) : i32 {
      %1 = tt.load %p : tensor<32x256x!tt.ptr<f32>, #blocked>
      %2 = "tt.reduce"(%1) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %4 = arith.addf %a, %b : f32
        tt.reduce.return %4 : f32
      }) : (tensor<32x256xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %3 = arith.addf %acc, %2 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      scf.yield %3 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    }
    %5 = ttg.convert_layout %0 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32xf32, #blocked1>
    tt.store %out, %5 : tensor<32x!tt.ptr<f32>, #blocked1>
    tt.return
  }
}
