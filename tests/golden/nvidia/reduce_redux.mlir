// Reductions across the lanes of a warp: integers by redux.sync where every lane holds distinct elements, booleans by
// a vote, floats by shuffles.
// RUN: tessera compile %s --kernel sum --target sm_80 --emit ptx | FileCheck %s
// RUN: tessera compile %s --kernel sum --target sm_90a --emit ptx | FileCheck %s
// CHECK-LABEL: .entry sum(
// CHECK-NOT: shfl.sync
// CHECK: redux.sync.add.s32
// CHECK-NOT: shfl.sync
// CHECK-LABEL: .entry any(
// CHECK-NOT: shfl.sync
// CHECK: vote.sync.any.pred
// CHECK-NOT: shfl.sync
// CHECK-LABEL: .entry copies(
// CHECK-NOT: redux
// CHECK: shfl.sync.bfly
// CHECK-NOT: redux
module {
  tt.func public @sum(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %q = tt.addptr %s, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %x = tt.load %q : tensor<32x!tt.ptr<i32>>
    %y = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<32xi32>) -> i32
    tt.store %o, %y : !tt.ptr<i32>
    tt.return
  }
  tt.func public @any(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %zero = arith.constant dense<0> : tensor<32xi32>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %q = tt.addptr %s, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %x = tt.load %q : tensor<32x!tt.ptr<i32>>
    %t = arith.cmpi ne, %x, %zero : tensor<32xi32>
    %y = "tt.reduce"(%t) <{axis = 0 : i32}> ({
    ^bb0(%a: i1, %b: i1):
      %c = arith.ori %a, %b : i1
      tt.reduce.return %c : i1
    }) : (tensor<32xi1>) -> i1
    %z = arith.extui %y : i1 to i32
    tt.store %o, %z : !tt.ptr<i32>
    tt.return
  }
  // Of 32 lanes two hold the same: a sum over all would count it twice.
  tt.func public @copies(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %q = tt.addptr %s, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %x = tt.load %q : tensor<16x!tt.ptr<i32>>
    %y = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<16xi32>) -> i32
    tt.store %o, %y : !tt.ptr<i32>
    tt.return
  }
}
