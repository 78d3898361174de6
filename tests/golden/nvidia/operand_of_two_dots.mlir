// An operand of two dots is stored to shared memory and loaded from there once, though nothing reads the buffer any more
// when the second dot needs it.
// RUN: tessera compile %s --target sm_80 --num-warps 4 --emit ttgir -o - | FileCheck %s
// CHECK-LABEL: @two_products
// CHECK-COUNT-3: ttg.local_load
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @two_products(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sx: i32 {tt.divisibility = 16 : i32}, %sy: i32 {tt.divisibility = 16 : i32}, %sz: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %col = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ox0 = tt.splat %sx : i32 -> tensor<64x1xi32>
  %ox1 = arith.muli %row, %ox0 : tensor<64x1xi32>
  %ox2 = tt.broadcast %ox1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %ox3 = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
  %ox4 = arith.addi %ox2, %ox3 : tensor<64x64xi32>
  %ox5 = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %px = tt.addptr %ox5, %ox4 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %xv = tt.load %px : tensor<64x64x!tt.ptr<f16>>
  %oy0 = tt.splat %sy : i32 -> tensor<64x1xi32>
  %oy1 = arith.muli %row, %oy0 : tensor<64x1xi32>
  %oy2 = tt.broadcast %oy1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %oy3 = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
  %oy4 = arith.addi %oy2, %oy3 : tensor<64x64xi32>
  %oy5 = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %py = tt.addptr %oy5, %oy4 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %yv = tt.load %py : tensor<64x64x!tt.ptr<f16>>
  %d = tt.dot %xv, %yv, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %po = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pd = tt.addptr %po, %ox4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %pd, %d : tensor<64x64x!tt.ptr<f32>>
  %oz0 = tt.splat %sz : i32 -> tensor<64x1xi32>
  %oz1 = arith.muli %row, %oz0 : tensor<64x1xi32>
  %oz2 = tt.broadcast %oz1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %oz3 = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
  %oz4 = arith.addi %oz2, %oz3 : tensor<64x64xi32>
  %oz5 = tt.splat %z : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pz = tt.addptr %oz5, %oz4 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %zv = tt.load %pz : tensor<64x64x!tt.ptr<f16>>
  %e = tt.dot %xv, %zv, %d : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %pe = tt.addptr %po, %oy4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %pe, %e : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
