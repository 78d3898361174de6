// triton-reorder-broadcast: elementwise operations move before the broadcast of their operands; and cases where they cannot.
// RUN: tessera opt %s --split-input-file -triton-reorder-broadcast --verify-each | FileCheck %s

// CHECK-LABEL: @splat
// CHECK: %[[N:.*]] = arith.addi %[[X:.*]], %{{.*}} : i32
// CHECK: %[[S:.*]] = tt.splat %[[N]] : i32 -> tensor<8xi32>
// CHECK: tt.return %[[S]]
tt.func public @splat(%x: i32) -> tensor<8xi32> {
  %c = arith.constant dense<3> : tensor<8xi32>
  %s = tt.splat %x : i32 -> tensor<8xi32>
  %t = arith.addi %s, %c : tensor<8xi32>
  tt.return %t : tensor<8xi32>
}

// -----

// One source shape, with splats and constants among the operands.
// CHECK-LABEL: @broadcast
// CHECK: %[[A:.*]] = arith.muli %{{.*}}, %{{.*}} : tensor<8x1xi32>
// CHECK: %[[B:.*]] = arith.addi %[[A]], %{{.*}} : tensor<8x1xi32>
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[B]], %{{.*}} : tensor<8x1xi32>
// CHECK: tt.broadcast %[[C]] : tensor<8x1xi1> -> tensor<8x4xi1>
tt.func public @broadcast(%x: i32) -> tensor<8x4xi1> {
  %c = arith.constant dense<3> : tensor<8x4xi32>
  %s = tt.splat %x : i32 -> tensor<8x4xi32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %b = tt.broadcast %e : tensor<8x1xi32> -> tensor<8x4xi32>
  %m = arith.muli %b, %s : tensor<8x4xi32>
  %a = arith.addi %m, %c : tensor<8x4xi32>
  %t = arith.cmpi slt, %a, %s : tensor<8x4xi32>
  tt.return %t : tensor<8x4xi1>
}

// -----

// Rows plus columns, and a constant with an element each, are not repeated alike.
// CHECK-LABEL: @stays
// CHECK-COUNT-2: tt.broadcast
// CHECK: arith.addi %{{.*}}, %{{.*}} : tensor<4x4xi32>
// CHECK: arith.addi %{{.*}}, %{{.*}} : tensor<4x4xi32>
tt.func public @stays() -> tensor<4x4xi32> {
  %d = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]> : tensor<4x4xi32>
  %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %f = tt.expand_dims %r {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %b = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x4xi32>
  %c = tt.broadcast %f : tensor<1x4xi32> -> tensor<4x4xi32>
  %a = arith.addi %b, %c : tensor<4x4xi32>
  %t = arith.addi %b, %d : tensor<4x4xi32>
  %u = arith.muli %a, %t : tensor<4x4xi32>
  tt.return %u : tensor<4x4xi32>
}

// -----

// A select, with a tensor or a scalar for its condition.
// CHECK-LABEL: @select
// CHECK: %[[A:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x1xi1>, tensor<8x1xi32>
// CHECK-NEXT: %[[B:.*]] = tt.broadcast %[[A]] : tensor<8x1xi32> -> tensor<8x4xi32>
// CHECK: %[[C:.*]] = arith.select %[[COND:.*]], %{{.*}}, %{{.*}} : tensor<8x1xi32>
// CHECK-NEXT: %[[D:.*]] = tt.broadcast %[[C]] : tensor<8x1xi32> -> tensor<8x4xi32>
// CHECK: tt.return %[[B]], %[[D]]
tt.func public @select(%x: i32, %cond: i1) -> (tensor<8x4xi32>, tensor<8x4xi32>) {
  %s = tt.splat %x : i32 -> tensor<8x4xi32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %b = tt.broadcast %e : tensor<8x1xi32> -> tensor<8x4xi32>
  %c = arith.cmpi slt, %b, %s : tensor<8x4xi32>
  %0 = arith.select %c, %b, %s : tensor<8x4xi1>, tensor<8x4xi32>
  %1 = arith.select %cond, %b, %s : tensor<8x4xi32>
  tt.return %0, %1 : tensor<8x4xi32>, tensor<8x4xi32>
}
