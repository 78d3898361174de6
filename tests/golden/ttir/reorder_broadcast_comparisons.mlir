// triton-reorder-broadcast: 64-bit labels of rows are compared with indices of 32 bits as 32-bit numbers, -2^31 where
// they do not fit, which no index is. Not if the 32-bit number may be -2^31, and not if as many labels would be
// truncated as are compared.
// RUN: tessera opt %s --split-input-file -triton-reorder-broadcast --verify-each | FileCheck %s

// CHECK-LABEL: @labels
// CHECK: %[[T:.*]] = arith.trunci %{{.*}} : tensor<8x1xi64> to tensor<8x1xi32>
// CHECK: %[[BACK:.*]] = arith.extsi %[[T]] : tensor<8x1xi32> to tensor<8x1xi64>
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %{{.*}}, %[[BACK]] : tensor<8x1xi64>
// CHECK: %[[NEVER:.*]] = arith.constant dense<-2147483648> : tensor<8x1xi32>
// CHECK: %[[LABEL:.*]] = arith.select %[[FITS]], %[[T]], %[[NEVER]] : tensor<8x1xi1>, tensor<8x1xi32>
// CHECK: %[[A:.*]] = tt.broadcast %[[LABEL]] : tensor<8x1xi32> -> tensor<8x64xi32>
// CHECK: %[[B:.*]] = tt.broadcast %{{.*}} : tensor<1x64xi32> -> tensor<8x64xi32>
// CHECK: arith.cmpi eq, %[[A]], %[[B]] : tensor<8x64xi32>
tt.func public @labels(%p: tensor<8x1x!tt.ptr<i64>>) -> tensor<8x64xi1> {
  %x = tt.load %p : tensor<8x1x!tt.ptr<i64>>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %w = arith.extsi %e : tensor<1x64xi32> to tensor<1x64xi64>
  %xs = tt.broadcast %x : tensor<8x1xi64> -> tensor<8x64xi64>
  %ws = tt.broadcast %w : tensor<1x64xi64> -> tensor<8x64xi64>
  %c = arith.cmpi eq, %xs, %ws : tensor<8x64xi64>
  tt.return %c : tensor<8x64xi1>
}

// -----

// A scalar, on the right, and inequality.
// CHECK-LABEL: @scalar
// CHECK: %[[T:.*]] = arith.trunci %arg0 : i64 to i32
// CHECK: %[[LABEL:.*]] = arith.select %{{.*}}, %[[T]], %{{.*}} : i32
// CHECK: %[[S:.*]] = tt.splat %[[LABEL]] : i32 -> tensor<64xi32>
// CHECK: arith.cmpi ne, %[[S]], %{{.*}} : tensor<64xi32>
tt.func public @scalar(%x: i64) -> tensor<64xi1> {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %w = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
  %xs = tt.splat %x : i64 -> tensor<64xi64>
  %c = arith.cmpi ne, %w, %xs : tensor<64xi64>
  tt.return %c : tensor<64xi1>
}

// -----

// CHECK-LABEL: @any_number
// CHECK-NOT: arith.trunci
// CHECK: arith.cmpi eq, %{{.*}} : tensor<64xi64>
tt.func public @any_number(%x: i64, %p: tensor<64x!tt.ptr<i32>>) -> tensor<64xi1> {
  %y = tt.load %p : tensor<64x!tt.ptr<i32>>
  %w = arith.extsi %y : tensor<64xi32> to tensor<64xi64>
  %xs = tt.splat %x : i64 -> tensor<64xi64>
  %c = arith.cmpi eq, %w, %xs : tensor<64xi64>
  tt.return %c : tensor<64xi1>
}

// -----

// CHECK-LABEL: @as_many
// CHECK-NOT: arith.trunci
// CHECK: arith.cmpi eq, %{{.*}} : tensor<64xi64>
// CHECK-NOT: arith.trunci
// CHECK: arith.cmpi slt, %{{.*}} : tensor<8x64xi64>
tt.func public @as_many(%p: tensor<64x!tt.ptr<i64>>, %q: tensor<8x1x!tt.ptr<i64>>) -> (tensor<64xi1>, tensor<8x64xi1>) {
  %x = tt.load %p : tensor<64x!tt.ptr<i64>>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %w = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
  %c = arith.cmpi eq, %x, %w : tensor<64xi64>
  %y = tt.load %q : tensor<8x1x!tt.ptr<i64>>
  %e = tt.expand_dims %w {axis = 0 : i32} : tensor<64xi64> -> tensor<1x64xi64>
  %ys = tt.broadcast %y : tensor<8x1xi64> -> tensor<8x64xi64>
  %es = tt.broadcast %e : tensor<1x64xi64> -> tensor<8x64xi64>
  %d = arith.cmpi slt, %ys, %es : tensor<8x64xi64>
  tt.return %c, %d : tensor<64xi1>, tensor<8x64xi1>
}
