// Words of packed weights, each of which a dot's operand needs eight times: loaded in the operand's layout, without
// shared memory, where that takes no more accesses than reads of the operand. Lanes of gfx1100 need too many of them.
// RUN: tessera compile %s --target gfx942 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx950 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --emit ttgir -o - | FileCheck %s --check-prefix=BUFFER
// CHECK-NOT: memdesc<{{.*}}i32
// CHECK: scf.for
// CHECK: tt.load %{{.*}} : tensor<8x64x!tt.ptr<i32>, #ttg.slice<
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.dot
// CHECK: scf.yield
// BUFFER: scf.for
// BUFFER: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i32>
// BUFFER: tt.dot
tt.func public @gemm(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %eight = arith.constant dense<8> : tensor<64xi32>
  %four = arith.constant dense<4> : tensor<64xi32>
  %fifteen = arith.constant dense<15> : tensor<64x64xi32>
  %stride = arith.constant dense<64> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = arith.remsi %r, %eight : tensor<64xi32>
  %shift = arith.muli %m, %four : tensor<64xi32>
  %shift1 = tt.expand_dims %shift {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %shifts = tt.broadcast %shift1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %n1 = tt.splat %n : i32 -> tensor<64x1xi32>
  %ar = arith.muli %r1, %n1 : tensor<64x1xi32>
  %ars = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x64xi32>
  %aat = arith.addi %ars, %columns : tensor<64x64xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ws = tt.splat %w : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) : i32 {
    %k2 = tt.splat %k : i32 -> tensor<64x64xi32>
    %aatk = arith.addi %aat, %k2 : tensor<64x64xi32>
    %ap = tt.addptr %xs, %aatk : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %a = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
    %ks = tt.splat %k : i32 -> tensor<64xi32>
    %i = arith.addi %ks, %r : tensor<64xi32>
    %q = arith.divsi %i, %eight : tensor<64xi32>
    %q1 = tt.expand_dims %q {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %qs = arith.muli %q1, %stride : tensor<64x1xi32>
    %rows = tt.broadcast %qs : tensor<64x1xi32> -> tensor<64x64xi32>
    %at = arith.addi %rows, %columns : tensor<64x64xi32>
    %p = tt.addptr %ws, %at : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
    %v = tt.load %p : tensor<64x64x!tt.ptr<i32>>
    %u = arith.shrui %v, %shifts : tensor<64x64xi32>
    %l = arith.andi %u, %fifteen : tensor<64x64xi32>
    %f = arith.sitofp %l : tensor<64x64xi32> to tensor<64x64xf16>
    %d = tt.dot %a, %f, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %rs = arith.muli %r1, %stride : tensor<64x1xi32>
  %ors = tt.broadcast %rs : tensor<64x1xi32> -> tensor<64x64xi32>
  %oat = arith.addi %ors, %columns : tensor<64x64xi32>
  %yp = tt.addptr %ys, %oat : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %yp, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
