// A thread reads 64 elements at unrelated addresses. In a kernel with so many, each address is computed at its access.
// RUN: tessera compile %s --kernel gather --target sm_90a --num-warps 4 --emit llir -o - | FileCheck %s
// In one with fewer, all addresses are computed first.
// RUN: tessera compile %s --kernel few --target sm_90a --num-warps 4 --emit llir -o - | FileCheck %s --check-prefix=FEW
// CHECK-LABEL: define ptx_kernel void @gather
// CHECK: %[[FIRST:.*]] = getelementptr half
// CHECK-NEXT: load i16, ptr addrspace(1) %[[FIRST]]
// CHECK-NOT: load
// CHECK: %[[SECOND:.*]] = getelementptr half
// CHECK-NEXT: load i16, ptr addrspace(1) %[[SECOND]]
// FEW-LABEL: define ptx_kernel void @few
// FEW: getelementptr half
// FEW-NOT: load i16
// FEW: getelementptr half
tt.func public @gather(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %idx: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %p = tt.splat %idx : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %rows = tt.load %q : tensor<64x!tt.ptr<i32>>
  %c = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %column = tt.expand_dims %c {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %row = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %to = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %stride = tt.splat %s : i32 -> tensor<64x1xi32>
  %width = tt.splat %n : i32 -> tensor<64x1xi32>
  %step = tt.splat %n : i32 -> tensor<1x128xi32>
  %from = arith.muli %row, %stride : tensor<64x1xi32>
  %at = arith.muli %column, %step : tensor<1x128xi32>
  %f = tt.broadcast %from : tensor<64x1xi32> -> tensor<64x128xi32>
  %a = tt.broadcast %at : tensor<1x128xi32> -> tensor<64x128xi32>
  %i = arith.addi %f, %a : tensor<64x128xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %i : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
  %v = tt.load %xp : tensor<64x128x!tt.ptr<f16>>
  %w = arith.muli %to, %width : tensor<64x1xi32>
  %wb = tt.broadcast %w : tensor<64x1xi32> -> tensor<64x128xi32>
  %cb = tt.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %j = arith.addi %wb, %cb : tensor<64x128xi32>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %op = tt.addptr %os, %j : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
  tt.store %op, %v : tensor<64x128x!tt.ptr<f16>>
  tt.return
}
tt.func public @few(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: i32) {
  %c = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %step = tt.splat %s : i32 -> tensor<512xi32>
  %at = arith.muli %c, %step : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %at : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
  %v = tt.load %xp : tensor<512x!tt.ptr<f16>>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %op = tt.addptr %os, %c : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
  tt.store %op, %v : tensor<512x!tt.ptr<f16>>
  tt.return
}
