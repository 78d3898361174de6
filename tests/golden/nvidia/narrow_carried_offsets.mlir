// narrow-offsets: a loop that carries many pointers carries their base, and what they do not share stays 32 bits wide.
// RUN: tessera compile %s --target sm_80 --num-warps 2 --exact-num-warps --num-stages 1 --emit ptx -o - | FileCheck %s
// CHECK: {{^\$L__BB}}
// CHECK-COUNT-128: mad.wide.s32 %rd{{[0-9]+}}, %r{{[0-9]+}}, 2, %rd[[BASE:[0-9]+]];
// CHECK-NOT: add.s64
// CHECK: add.s64 %rd[[BASE]], %rd[[BASE]],
// CHECK-NOT: add.s64
// CHECK: bra
tt.func public @carried(%a: !tt.ptr<bf16>, %w: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32, %count: i32) {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %wide = arith.constant dense<128> : tensor<64x1xi32>
  %k = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %mw = arith.muli %m1, %wide : tensor<64x1xi32>
  %mb = tt.broadcast %mw : tensor<64x1xi32> -> tensor<64x128xi32>
  %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %kb = tt.broadcast %k0 : tensor<1x128xi32> -> tensor<64x128xi32>
  %i = arith.addi %mb, %kb : tensor<64x128xi32>
  %ws = tt.splat %w : !tt.ptr<bf16> -> tensor<64x128x!tt.ptr<bf16>>
  %pw = tt.addptr %ws, %i : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
  %y = tt.load %pw : tensor<64x128x!tt.ptr<bf16>>
  %strides = tt.splat %stride : i32 -> tensor<128x1xi32>
  %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %k1, %strides : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x128xi32>
  %cols = tt.broadcast %k0 : tensor<1x128xi32> -> tensor<128x128xi32>
  %j = arith.addi %rows, %cols : tensor<128x128xi32>
  %as = tt.splat %a : !tt.ptr<bf16> -> tensor<128x128x!tt.ptr<bf16>>
  %first = tt.addptr %as, %j : tensor<128x128x!tt.ptr<bf16>>, tensor<128x128xi32>
  %step = arith.muli %stride, %c128 : i32
  %steps = tt.splat %step : i32 -> tensor<128x128xi32>
  %s:2 = scf.for %t = %c0 to %count step %c1 iter_args(%p = %first, %acc = %zero) -> (tensor<128x128x!tt.ptr<bf16>>, tensor<64x128xf32>) : i32 {
    %x = tt.load %p : tensor<128x128x!tt.ptr<bf16>>
    %d = tt.dot %y, %x, %acc : tensor<64x128xbf16> * tensor<128x128xbf16> -> tensor<64x128xf32>
    %next = tt.addptr %p, %steps : tensor<128x128x!tt.ptr<bf16>>, tensor<128x128xi32>
    scf.yield %next, %d : tensor<128x128x!tt.ptr<bf16>>, tensor<64x128xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
  %po = tt.addptr %os, %i : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
  tt.store %po, %s#1 : tensor<64x128x!tt.ptr<f32>>
  tt.return
}
