// Descriptors of wgmma that a loop does not change: 16 wgmma with one of two operands each, whose descriptors would take
// all uniform registers, are computed in each iteration; 8 are not.
// RUN: tessera compile %s --kernel two_operands --target sm_90a --num-warps 4 --num-stages 3 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --kernel one_operand --target sm_90a --num-warps 4 --num-stages 3 --emit llir -o - | FileCheck %s --check-prefix=FEW
// CHECK-LABEL: define {{.*}}@two_operands
// CHECK: %[[K:.*]] = {{.*}}call i64 asm "mov.b64 $0, $1;", "=l,l"
// CHECK: %[[T:.*]] = phi i32 [ 0, %{{.*}} ], [ %[[NEXT:.*]], %{{.*}} ]
// CHECK: %[[Z:.*]] = call i32 asm "shr.u32 $0, $1, 1;", "=r,r"(i32 %[[T]])
// CHECK-NEXT: %[[ZERO:.*]] = zext i32 %[[Z]] to i64
// CHECK: %[[FIRST:.*]] = add i64 %[[K]], %[[ZERO]]
// CHECK: add i64 %[[FIRST]], 2
// CHECK: wgmma.mma_async
// CHECK: %[[NEXT]] = xor i32 %[[T]], 1
// FEW-LABEL: define {{.*}}@one_operand
// FEW-NOT: shr.u32
// FEW: wgmma.mma_async
// FEW-NOT: shr.u32
tt.func public @two_operands(%k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
  %width = arith.constant dense<64> : tensor<128x1xi32>
  %widthQ = arith.constant dense<64> : tensor<1x64xi32>
  %tile = arith.constant dense<4096> : tensor<64x64xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rowQ = tt.expand_dims %c {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rows = arith.muli %row, %width : tensor<128x1xi32>
  %ra = tt.broadcast %rows : tensor<128x1xi32> -> tensor<128x64xi32>
  %ca = tt.broadcast %column : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %ra, %ca : tensor<128x64xi32>
  %columnsQ = arith.muli %column, %widthQ : tensor<1x64xi32>
  %rq = tt.broadcast %rowQ : tensor<64x1xi32> -> tensor<64x64xi32>
  %cq = tt.broadcast %columnsQ : tensor<1x64xi32> -> tensor<64x64xi32>
  %atQ = arith.addi %rq, %cq : tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pk = tt.addptr %ks, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %kt = tt.load %pk : tensor<128x64x!tt.ptr<f16>>
  %vs = tt.splat %v : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pv = tt.addptr %vs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %vt = tt.load %pv : tensor<128x64x!tt.ptr<f16>>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pq = tt.addptr %qs, %atQ : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %pq) -> (tensor<128x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %s = tt.dot %kt, %x, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %e = math.exp2 %s : tensor<128x64xf32>
    %t = tt.dot %vt, %x, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %f = arith.mulf %e, %t : tensor<128x64xf32>
    %u = arith.addf %sum, %f : tensor<128x64xf32>
    %next = tt.addptr %p, %tile : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %u, %next : tensor<128x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %po = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %po, %d#0 : tensor<128x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @one_operand(%k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
  %width = arith.constant dense<64> : tensor<128x1xi32>
  %widthQ = arith.constant dense<64> : tensor<1x64xi32>
  %tile = arith.constant dense<4096> : tensor<64x64xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rowQ = tt.expand_dims %c {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rows = arith.muli %row, %width : tensor<128x1xi32>
  %ra = tt.broadcast %rows : tensor<128x1xi32> -> tensor<128x64xi32>
  %ca = tt.broadcast %column : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %ra, %ca : tensor<128x64xi32>
  %columnsQ = arith.muli %column, %widthQ : tensor<1x64xi32>
  %rq = tt.broadcast %rowQ : tensor<64x1xi32> -> tensor<64x64xi32>
  %cq = tt.broadcast %columnsQ : tensor<1x64xi32> -> tensor<64x64xi32>
  %atQ = arith.addi %rq, %cq : tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pk = tt.addptr %ks, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %kt = tt.load %pk : tensor<128x64x!tt.ptr<f16>>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pq = tt.addptr %qs, %atQ : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %pq) -> (tensor<128x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %s = tt.dot %kt, %x, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %e = math.exp2 %s : tensor<128x64xf32>
    %u = arith.addf %sum, %e : tensor<128x64xf32>
    %next = tt.addptr %p, %tile : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %u, %next : tensor<128x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %po = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %po, %d#0 : tensor<128x64x!tt.ptr<f32>>
  tt.return
}
