// A reduction of two tensors is none of one operation, even if its region has only one: what is returned for the second
// tensor is combined, too. A sum of one tensor over a warp is one redux.sync.
// RUN: tessera compile %s --kernel one --target sm_90a --num-warps 1 --emit ptx | FileCheck %s
// CHECK-LABEL: .entry one(
// CHECK: redux.sync.add
// CHECK-LABEL: .entry two(
// CHECK-NOT: redux
// CHECK-COUNT-10: shfl.sync.bfly
// CHECK-NOT: redux
// CHECK: ret;
tt.func public @one(%o: !tt.ptr<i32>) {
  %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<32xi32>) -> i32
  tt.store %o, %r : !tt.ptr<i32>
  tt.return
}
tt.func public @two(%o: !tt.ptr<i32>, %p: !tt.ptr<i32>) {
  %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %five = arith.constant dense<5> : tensor<32xi32>
  %y = arith.muli %x, %five : tensor<32xi32>
  %r:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s, %d : i32, i32
  }) : (tensor<32xi32>, tensor<32xi32>) -> (i32, i32)
  tt.store %o, %r#0 : !tt.ptr<i32>
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.return
}
