// Two iterations in one of a loop whose loads have masks: the second one's offsets are a constant more than what the
// loop carries. The instruction adds it, after the choice of an offset beyond the end, which is as much less.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 2 --emit llir | FileCheck %s
// CHECK: {{^}}for:
// CHECK: %[[O:offset.*]] = phi i32
// CHECK: %[[P:.*]] = add i32 %[[O]], %
// CHECK: select i1 %{{.*}}, i32 %[[O]], i32 -16
// CHECK: select i1 %{{.*}}, i32 %[[P]], i32 -16
// CHECK: %[[CHOICE:.*]] = select i1 %{{.*}}, i32 %[[O]], i32 -144
// CHECK: %[[SUM:.*]] = add {{.*}}%[[CHOICE]], 128
// CHECK: call {{.*}} @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %[[SUM]],
// CHECK: select i1 %{{.*}}, i32 %[[P]], i32 -144
// CHECK: add i32 %[[O]], 256
// CHECK: br i1
tt.func public @masked(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %K: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %step = arith.constant dense<64> : tensor<64x64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k1 = tt.splat %K : i32 -> tensor<64x1xi32>
  %k0 = tt.splat %K : i32 -> tensor<1x64xi32>
  %ar = arith.muli %r1, %k1 : tensor<64x1xi32>
  %br = arith.muli %r0, %k0 : tensor<1x64xi32>
  %a0 = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x64xi32>
  %a1 = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %b0 = tt.broadcast %br : tensor<1x64xi32> -> tensor<64x64xi32>
  %b1 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %ai = arith.addi %a0, %a1 : tensor<64x64xi32>
  %bi = arith.addi %b0, %b1 : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pa0 = tt.addptr %as, %ai : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pb0 = tt.addptr %bs, %bi : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %pa0, %pb = %pb0) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %left = arith.subi %K, %at : i32
    %l0 = tt.splat %left : i32 -> tensor<1x64xi32>
    %l1 = tt.splat %left : i32 -> tensor<64x1xi32>
    %m0 = arith.cmpi slt, %r0, %l0 : tensor<1x64xi32>
    %m1 = arith.cmpi slt, %r1, %l1 : tensor<64x1xi32>
    %ma = tt.broadcast %m0 : tensor<1x64xi1> -> tensor<64x64xi1>
    %mb = tt.broadcast %m1 : tensor<64x1xi1> -> tensor<64x64xi1>
    %x = tt.load %pa, %ma, %none : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %pb, %mb, %none : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %qa = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %qb = tt.addptr %pb, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %qa, %qb : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %ai : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %cp, %sum#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
