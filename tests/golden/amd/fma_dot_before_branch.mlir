// An FMA dot whose result only masked stores use is computed where its operands are read from LDS, not in the branch
// of the stores, where all operands would be live: 640 values, while a thread has 256 registers.
// RUN: tessera compile %s --target gfx1201 --num-warps 4 --emit amdgcn -o - | FileCheck %s
// CHECK: .vgpr_spill_count: 0
tt.func public @product(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %width = arith.constant dense<32> : tensor<64x1xi32>
  %wide = arith.constant dense<128> : tensor<32x1xi32>
  %wider = arith.constant dense<128> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %l = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %inner = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %outer = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %l {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %a0 = arith.muli %rows, %width : tensor<64x1xi32>
  %a1 = tt.broadcast %a0 : tensor<64x1xi32> -> tensor<64x32xi32>
  %a2 = tt.broadcast %inner : tensor<1x32xi32> -> tensor<64x32xi32>
  %ao = arith.addi %a1, %a2 : tensor<64x32xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
  %av = tt.load %ap : tensor<64x32x!tt.ptr<f32>>
  %b0 = arith.muli %outer, %wide : tensor<32x1xi32>
  %b1 = tt.broadcast %b0 : tensor<32x1xi32> -> tensor<32x128xi32>
  %b2 = tt.broadcast %columns : tensor<1x128xi32> -> tensor<32x128xi32>
  %bo = arith.addi %b1, %b2 : tensor<32x128xi32>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
  %bp = tt.addptr %bs, %bo : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
  %bv = tt.load %bp : tensor<32x128x!tt.ptr<f32>>
  %d = tt.dot %av, %bv, %zero, inputPrecision = ieee : tensor<64x32xf32> * tensor<32x128xf32> -> tensor<64x128xf32>
  %ns = tt.splat %n : i32 -> tensor<1x128xi32>
  %m = arith.cmpi slt, %columns, %ns : tensor<1x128xi32>
  %mask = tt.broadcast %m : tensor<1x128xi1> -> tensor<64x128xi1>
  %c0 = arith.muli %rows, %wider : tensor<64x1xi32>
  %c1 = tt.broadcast %c0 : tensor<64x1xi32> -> tensor<64x128xi32>
  %c2 = tt.broadcast %columns : tensor<1x128xi32> -> tensor<64x128xi32>
  %co = arith.addi %c1, %c2 : tensor<64x128xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %co : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
  tt.store %cp, %d, %mask : tensor<64x128x!tt.ptr<f32>>
  tt.return
}
