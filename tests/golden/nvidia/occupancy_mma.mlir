// Occupancy hint of a kernel with few loads: .minnctapersm requests more warps, but not so many that an mma lacks
// registers, which ptxas rejects.
// RUN: tessera compile %s --target sm_90a --num-warps 8 --emit ptx -o - | FileCheck %s
// CHECK: .minnctapersm 4
// CHECK: mma

tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %w32 = arith.constant dense<32> : tensor<64x1xi32>
  %v32 = arith.constant dense<32> : tensor<32x1xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %k = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %n = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %mo = arith.muli %m, %w32 : tensor<64x1xi32>
  %ko = arith.muli %k, %v32 : tensor<32x1xi32>
  %mb = tt.broadcast %mo : tensor<64x1xi32> -> tensor<64x32xi32>
  %kb = tt.broadcast %ko : tensor<32x1xi32> -> tensor<32x32xi32>
  %nm = tt.broadcast %n : tensor<1x32xi32> -> tensor<64x32xi32>
  %nk = tt.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %ia = arith.addi %mb, %nm : tensor<64x32xi32>
  %ib = arith.addi %kb, %nk : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %pa = tt.addptr %as, %ia : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %pb = tt.addptr %bs, %ib : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %ia : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
  %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
  %y = tt.load %pb : tensor<32x32x!tt.ptr<f16>>
  %d = tt.dot %x, %y, %zero : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
  tt.store %pc, %d : tensor<64x32x!tt.ptr<f32>>
  tt.return
}
