// share-carried-offsets: a thread's column offsets that a loop advances by the same amount become one phi and constant
// distances from it.
// RUN: tessera compile %s --target sm_90a --num-warps 1 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit llir -o - | FileCheck %s
// CHECK: for:
// CHECK-COUNT-2: = phi i32
// CHECK-NOT: = phi i32

tt.func public @distances(%in: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<512xi32>
  %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %ins = tt.splat %in : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %outs = tt.splat %out : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %po = tt.addptr %outs, %range : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%at = %range) -> (tensor<512xi32>) : i32 {
    // The step depends on what is loaded: no induction variable.
    %pi = tt.addptr %in, %i : !tt.ptr<i32>, i32
    %step = tt.load %pi : !tt.ptr<i32>
    tt.store %po, %at : tensor<512x!tt.ptr<i32>>
    %steps = tt.splat %step : i32 -> tensor<512xi32>
    %next = arith.addi %at, %steps : tensor<512xi32>
    scf.yield %next : tensor<512xi32>
  }
  tt.return
}
