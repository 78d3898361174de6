// canonicalize: a carried value that the body transposes once is another one in each iteration, and stays.
// RUN: tessera opt %s -canonicalize --verify-each | FileCheck %s
// CHECK-LABEL: @once
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<16x16xf32>)
// CHECK-NEXT: %[[T:.*]] = tt.trans %[[A]]
// CHECK-NEXT: scf.yield %[[T]]
// CHECK: tt.return %[[R]]
tt.func public @once(%i: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i) -> (tensor<16x16xf32>) : i32 {
    %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %t : tensor<16x16xf32>
  }
  tt.return %r : tensor<16x16xf32>
}
