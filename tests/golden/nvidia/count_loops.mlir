// A loop of constant trip count gets a counter from 0, by which ptxas knows the count and unrolls it: LLVM's own would
// begin at minus one step here. Not in a loop that stores, before whose stores no later load moves, nor in one whose
// count is not constant.
// RUN: tessera compile %s --kernel counted --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=COUNTED
// RUN: tessera compile %s --kernel stores --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=STORES
// RUN: tessera compile %s --kernel bounded --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=BOUNDED

// COUNTED: .entry counted(
// COUNTED: mov.b32 [[COUNT:%r[0-9]+]], 0;
// COUNTED: [[LOOP:.L__BB[0-9_]+]]:
// COUNTED: ld.global
// COUNTED: add.s32 [[COUNT]], [[COUNT]], 1;
// COUNTED-NEXT: setp.ne.b32 [[GOES_ON:%p[0-9]+]], [[COUNT]], 300;
// COUNTED-NEXT: @[[GOES_ON]] bra {{.*}}[[LOOP]];
// STORES: .entry stores(
// STORES: $L__BB
// STORES: ld.global
// STORES-NOT: , 300;
// STORES: bra
// STORES: ret;
// BOUNDED: .entry bounded(
// BOUNDED: $L__BB
// BOUNDED: ld.global
// BOUNDED-NOT: , 300;
// BOUNDED: bra
// BOUNDED: ret;
tt.func public @counted(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %row: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %end = arith.constant 38400 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.splat %row : i32 -> tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %end step %step iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %is, %range : tensor<128xi32>
    %both = arith.xori %at, %rows : tensor<128xi32>
    %addr = tt.addptr %ps, %both : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %addr : tensor<128x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %to = tt.addptr %qs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %sum : tensor<128x!tt.ptr<f32>>
  tt.return
}
tt.func public @stores(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %row: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %end = arith.constant 38400 : i32
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.splat %row : i32 -> tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  scf.for %i = %c0 to %end step %step : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %is, %range : tensor<128xi32>
    %both = arith.xori %at, %rows : tensor<128xi32>
    %addr = tt.addptr %ps, %both : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %addr : tensor<128x!tt.ptr<f32>>
    %to = tt.addptr %qs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %to, %v : tensor<128x!tt.ptr<f32>>
  }
  tt.return
}
tt.func public @bounded(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %row: i32, %end: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.splat %row : i32 -> tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %end step %step iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %is, %range : tensor<128xi32>
    %both = arith.xori %at, %rows : tensor<128xi32>
    %addr = tt.addptr %ps, %both : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %addr : tensor<128x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %to = tt.addptr %qs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %sum : tensor<128x!tt.ptr<f32>>
  tt.return
}
