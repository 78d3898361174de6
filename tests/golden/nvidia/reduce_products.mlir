// A thread sums x * y up in chains of eight elements, by one mul and seven fma; chains are added at the end. What
// something else needs, too, is a balanced tree of additions. In a loop, what a thread adds up for itself is an axis
// of x * y in another shape.
// RUN: tessera compile %s --kernel products --num-warps 1 --target sm_90a --emit ptx | FileCheck %s
// RUN: tessera compile %s --kernel products --num-warps 1 --target sm_90a --emit ptx --fp-fusion off | FileCheck %s --check-prefix=APART
// CHECK-LABEL: .entry products(
// CHECK-COUNT-2: mul.f32
// CHECK-COUNT-14: fma.rn.f32
// CHECK-NEXT: add.f32
// CHECK: shfl.sync.bfly
// CHECK-LABEL: .entry stored(
// CHECK-COUNT-16: mul.f32
// CHECK: fma.rn.f32
// CHECK-NEXT: fma.rn.f32
// CHECK-NEXT: add.f32
// CHECK: shfl.sync.bfly
// CHECK-LABEL: .entry looped(
// CHECK-COUNT-4: mul.f32
// CHECK-COUNT-12: fma.rn.f32
// CHECK-COUNT-4: add.f32
// CHECK-NOT: f32
// CHECK: bra
// CHECK: shfl.sync.bfly
// APART-NOT: fma
// APART: shfl.sync.bfly
module {
  tt.func public @products(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>) {
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %pa = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %qa = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %x = tt.load %pa : tensor<512x!tt.ptr<f32>>
    %y = tt.load %qa : tensor<512x!tt.ptr<f32>>
    %m = arith.mulf %x, %y : tensor<512xf32>
    %s = "tt.reduce"(%m) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32>) -> f32
    tt.store %o, %s : !tt.ptr<f32>
    tt.return
  }
  tt.func public @stored(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>) {
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %pa = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %qa = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %x = tt.load %pa : tensor<512x!tt.ptr<f32>>
    %y = tt.load %qa : tensor<512x!tt.ptr<f32>>
    %m = arith.mulf %x, %y : tensor<512xf32>
    tt.store %pa, %m : tensor<512x!tt.ptr<f32>>
    %s = "tt.reduce"(%m) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32>) -> f32
    tt.store %o, %s : !tt.ptr<f32>
    tt.return
  }
  tt.func public @looped(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %none = arith.constant dense<0.000000e+00> : tensor<1xf32>
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %row = tt.expand_dims %r {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1x512x!tt.ptr<f32>>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<1x512x!tt.ptr<f32>>
    %sum = scf.for %i = %c0 to %n step %c512 iter_args(%acc = %none) -> (tensor<1xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<1x512xi32>
      %at = arith.addi %is, %row : tensor<1x512xi32>
      %pa = tt.addptr %ps, %at : tensor<1x512x!tt.ptr<f32>>, tensor<1x512xi32>
      %qa = tt.addptr %qs, %at : tensor<1x512x!tt.ptr<f32>>, tensor<1x512xi32>
      %x = tt.load %pa : tensor<1x512x!tt.ptr<f32>>
      %y = tt.load %qa : tensor<1x512x!tt.ptr<f32>>
      %m = arith.mulf %x, %y : tensor<1x512xf32>
      %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<1x512xf32>) -> tensor<1xf32>
      %next = arith.addf %acc, %s : tensor<1xf32>
      scf.yield %next : tensor<1xf32>
    }
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<1x!tt.ptr<f32>>
    tt.store %os, %sum : tensor<1x!tt.ptr<f32>>
    tt.return
  }
}
