// The descriptors of the steps of a wgmma are sums of the first one's, which LLVM cannot put together with its constant.
// RUN: tessera compile %s --target sm_90a --num-warps 4 --num-stages 3 --emit llir -o - | FileCheck %s
// CHECK: %[[A0:.*]] = or disjoint i64 %{{.*}}, 46116862{{[0-9]+}}
// CHECK-NEXT: %[[A:.*]] = {{.*}}call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 %[[A0]])
// CHECK: %[[B:.*]] = {{.*}}call i64 asm "mov.b64 $0, $1;", "=l,l"
// CHECK-DAG: add i64 %[[A]], 2
// CHECK-DAG: add i64 %[[B]], 2
// CHECK-DAG: add i64 %[[A]], 4
// CHECK-DAG: add i64 %[[B]], 4
// CHECK-DAG: add i64 %[[A]], 6
// CHECK-DAG: add i64 %[[B]], 6
// CHECK-NOT: 46116862
// CHECK: wgmma.mma_async
tt.func public @pointers(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
  %step = arith.constant dense<64> : tensor<128x64xi32>
  %stepB = arith.constant dense<64> : tensor<64x128xi32>
  %width = arith.constant dense<128> : tensor<128x1xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %kOfA = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %kOfB = tt.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %strideA = tt.splat %sa : i32 -> tensor<128x1xi32>
  %strideB = tt.splat %sb : i32 -> tensor<1x128xi32>
  %rowsA = arith.muli %row, %strideA : tensor<128x1xi32>
  %columnsB = arith.muli %column, %strideB : tensor<1x128xi32>
  %ra = tt.broadcast %rowsA : tensor<128x1xi32> -> tensor<128x64xi32>
  %ka = tt.broadcast %kOfA : tensor<1x64xi32> -> tensor<128x64xi32>
  %cb = tt.broadcast %columnsB : tensor<1x128xi32> -> tensor<64x128xi32>
  %kb = tt.broadcast %kOfB : tensor<64x1xi32> -> tensor<64x128xi32>
  %atA = arith.addi %ra, %ka : tensor<128x64xi32>
  %atB = arith.addi %cb, %kb : tensor<64x128xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %pa = tt.addptr %as, %atA : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %pb = tt.addptr %bs, %atB : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
  %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%qa = %pa, %qb = %pb, %acc = %zero) -> (tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>, tensor<128x128xf32>) : i32 {
    %x = tt.load %qa : tensor<128x64x!tt.ptr<f16>>
    %y = tt.load %qb : tensor<64x128x!tt.ptr<f16>>
    %dot = tt.dot %x, %y, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %na = tt.addptr %qa, %step : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %nb = tt.addptr %qb, %stepB : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    scf.yield %na, %nb, %dot : tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>, tensor<128x128xf32>
  }
  %outs = arith.muli %row, %width : tensor<128x1xi32>
  %or = tt.broadcast %outs : tensor<128x1xi32> -> tensor<128x128xi32>
  %oc = tt.broadcast %column : tensor<1x128xi32> -> tensor<128x128xi32>
  %o = arith.addi %or, %oc : tensor<128x128xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %o : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  tt.store %pc, %d#2 : tensor<128x128x!tt.ptr<f32>>
  tt.return
}
