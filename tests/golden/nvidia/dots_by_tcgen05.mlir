// A matmul of TTIR on sm_100a: four steps along K by tcgen05, one arrival an iteration; with --no-tensor-memory mma.sync.
// The numbers are those of tensor_memory.mlir: f16 by f16 into f32, B across K, 128 x 128.
// RUN: tessera compile %s --target sm_100a --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --target sm_100a --no-tensor-memory --emit ptx -o - | FileCheck %s --check-prefix=OFF
// CHECK: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%{{.*}}], 128;
// CHECK-NOT: mma.sync
// CHECK: cp.async.wait_group
// CHECK: bar.sync
// CHECK: mov.b32 %{{r[0-9]+}}, 136380432;
// CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::f16
// CHECK: tcgen05.commit
// CHECK: mbarrier.try_wait.parity
// CHECK: cp.async.commit_group
// CHECK-NOT: tcgen05.mma
// CHECK: tcgen05.ld
// CHECK: tcgen05.dealloc
// OFF-NOT: tcgen05
// OFF: mma.sync
module {
  tt.func public @mm(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %ar = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %ac = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ar1 = tt.expand_dims %ar {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ac1 = tt.expand_dims %ac {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ast = arith.constant dense<1024> : tensor<128x1xi32>
    %am = arith.muli %ar1, %ast : tensor<128x1xi32>
    %arb = tt.broadcast %am : tensor<128x1xi32> -> tensor<128x64xi32>
    %acb = tt.broadcast %ac1 : tensor<1x64xi32> -> tensor<128x64xi32>
    %ao = arith.addi %arb, %acb : tensor<128x64xi32>
    %br = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %bc = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %br1 = tt.expand_dims %br {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %bc1 = tt.expand_dims %bc {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %bst = arith.constant dense<1024> : tensor<64x1xi32>
    %bm = arith.muli %br1, %bst : tensor<64x1xi32>
    %brb = tt.broadcast %bm : tensor<64x1xi32> -> tensor<64x128xi32>
    %bcb = tt.broadcast %bc1 : tensor<1x128xi32> -> tensor<64x128xi32>
    %bo = arith.addi %brb, %bcb : tensor<64x128xi32>
    %cr = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %cc = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %cr1 = tt.expand_dims %cr {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %cc1 = tt.expand_dims %cc {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %cst = arith.constant dense<1024> : tensor<128x1xi32>
    %cm = arith.muli %cr1, %cst : tensor<128x1xi32>
    %crb = tt.broadcast %cm : tensor<128x1xi32> -> tensor<128x128xi32>
    %ccb = tt.broadcast %cc1 : tensor<1x128xi32> -> tensor<128x128xi32>
    %co = arith.addi %crb, %ccb : tensor<128x128xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
    %ap = tt.addptr %as, %ao : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %bs2 = tt.splat %b : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
    %bp = tt.addptr %bs2, %bo : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %ka = arith.constant dense<64> : tensor<128x64xi32>
    %kb = arith.constant dense<65536> : tensor<64x128xi32>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %ap, %pb = %bp) -> (tensor<128x128xf32>, tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>) : i32 {
      %x = tt.load %pa : tensor<128x64x!tt.ptr<f16>>
      %y = tt.load %pb : tensor<64x128x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      %qa = tt.addptr %pa, %ka : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %qb = tt.addptr %pb, %kb : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      scf.yield %d, %qa, %qb : tensor<128x128xf32>, tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>
    }
    %cs2 = tt.splat %c : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %cp = tt.addptr %cs2, %co : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %cp, %r#0 : tensor<128x128x!tt.ptr<f32>>
    tt.return
  }
}
