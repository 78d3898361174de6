// Short loops with a constant trip count issue all of their loads before the first use. A mask that the loop bounds
// prove true is removed; a mask that depends on the iteration would keep ptxas from unrolling the loop, so the loop is
// unrolled before.
// RUN: tessera compile %s --kernel always --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=ALWAYS
// RUN: tessera compile %s --kernel sometimes --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=SOMETIMES

// ALWAYS: .entry always
// ALWAYS-NOT: @%p{{.*}} ld.global
// ALWAYS: ret;
// SOMETIMES: .entry sometimes
// SOMETIMES-COUNT-4: @%p{{.*}} ld.global
tt.func public @always(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %c512 = arith.constant 512 : i32
  %n = arith.constant dense<512> : tensor<128xi32>
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %c512 step %c128 iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %is, %range : tensor<128xi32>
    %mask = arith.cmpi slt, %at, %n : tensor<128xi32>
    %addr = tt.addptr %ps, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %addr, %mask, %zero : tensor<128x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %r = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<128xf32>) -> f32
  tt.store %q, %r : !tt.ptr<f32>
  tt.return
}
tt.func public @sometimes(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %c512 = arith.constant 512 : i32
  %n = arith.constant dense<500> : tensor<128xi32>
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %c512 step %c128 iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %is, %range : tensor<128xi32>
    %mask = arith.cmpi slt, %at, %n : tensor<128xi32>
    %addr = tt.addptr %ps, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %addr, %mask, %zero : tensor<128x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %r = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<128xf32>) -> f32
  tt.store %q, %r : !tt.ptr<f32>
  tt.return
}
