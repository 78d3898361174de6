// strip-mine: strips are cut along the first of two dimensions that a reshape makes of rows. Before the reshape a strip has
// as many rows as that one and the second have together, and begins as many rows further on.
// RUN: tessera compile %s --num-warps 1 --target sm_90a --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %s --num-warps 1 --target gfx1100 --emit ttgir -o - | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: scf.for %[[S:[a-z0-9_]+]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %[[S]], %c16_i32
// CHECK: tt.splat %[[ROW]] : i32 -> tensor<[[ROWS:[0-9]+]]xi32
// CHECK: tt.load %{{.*}} : tensor<[[ROWS]]x128x!tt.ptr<i8>
// CHECK: tt.reshape %{{.*}} : tensor<[[ROWS]]x128xi8, {{.*}} -> tensor<[[PARTS:[0-9]+]]x16x128xi8
// CHECK: tt.splat %[[S]] : i32 -> tensor<[[PARTS]]x
// CHECK: tt.store
tt.func public @rows(%x: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %j = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %c128 = arith.constant dense<128> : tensor<64x1xi32>
  %ic = arith.muli %i1, %c128 : tensor<64x1xi32>
  %ib = tt.broadcast %ic : tensor<64x1xi32> -> tensor<64x128xi32>
  %jb = tt.broadcast %j1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %o = arith.addi %ib, %jb : tensor<64x128xi32>
  %p = tt.splat %x : !tt.ptr<i8> -> tensor<64x128x!tt.ptr<i8>>
  %q = tt.addptr %p, %o : tensor<64x128x!tt.ptr<i8>>, tensor<64x128xi32>
  %v = tt.load %q : tensor<64x128x!tt.ptr<i8>>
  %w = tt.reshape %v : tensor<64x128xi8> -> tensor<4x16x128xi8>
  %f = arith.sitofp %w : tensor<4x16x128xi8> to tensor<4x16x128xf32>
  %a = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %b = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %a1 = tt.expand_dims %a {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %b1 = tt.expand_dims %b {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %c16 = arith.constant dense<16> : tensor<4x1xi32>
  %ac = arith.muli %a1, %c16 : tensor<4x1xi32>
  %ab = tt.broadcast %ac : tensor<4x1xi32> -> tensor<4x16xi32>
  %bb = tt.broadcast %b1 : tensor<1x16xi32> -> tensor<4x16xi32>
  %r = arith.addi %ab, %bb : tensor<4x16xi32>
  %r2 = tt.expand_dims %r {axis = 2 : i32} : tensor<4x16xi32> -> tensor<4x16x1xi32>
  %c3 = arith.constant dense<128> : tensor<4x16x1xi32>
  %rc = arith.muli %r2, %c3 : tensor<4x16x1xi32>
  %rb = tt.broadcast %rc : tensor<4x16x1xi32> -> tensor<4x16x128xi32>
  %j2 = tt.expand_dims %j1 {axis = 0 : i32} : tensor<1x128xi32> -> tensor<1x1x128xi32>
  %j3 = tt.broadcast %j2 : tensor<1x1x128xi32> -> tensor<4x16x128xi32>
  %t = arith.addi %rb, %j3 : tensor<4x16x128xi32>
  %s = tt.splat %y : !tt.ptr<f32> -> tensor<4x16x128x!tt.ptr<f32>>
  %u = tt.addptr %s, %t : tensor<4x16x128x!tt.ptr<f32>>, tensor<4x16x128xi32>
  tt.store %u, %f : tensor<4x16x128x!tt.ptr<f32>>
  tt.return
}
