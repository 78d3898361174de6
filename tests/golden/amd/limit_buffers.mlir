// A loop that loads two iterations ahead loads nothing in its last ones: that condition, which all lanes share, makes
// the buffer empty instead of choosing each offset.
// RUN: tessera compile %s --target gfx950 --kernel whole --num-warps 4 --num-stages 2 --emit llir | FileCheck %s
// CHECK: {{^}}for:
// CHECK-NOT: select i1 {{.*}}, i32 -16
// CHECK: %[[SIZE:.*]] = select i1 %{{.*}}, i64 {{.*}}, i64 0
// CHECK: call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc{{.*}} i64 %[[SIZE]]
// CHECK-NOT: select i1 {{.*}}, i32 -16
// CHECK: call void @llvm.amdgcn.s.barrier
tt.func public @whole(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %K: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
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
    %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<64x64x!tt.ptr<f16>>
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
