// wgmma: an A operand that a loop computes through rearrangements (weights of 4 bits, two of them in a byte) is
// computed in registers if each thread reads whole words of the copied bytes for it (@words). All of the arithmetic is
// then in the layout of the operand, inline assembly of several results too, and no conversion and no store to shared
// memory is left; the copies are read directly. Where a thread would read single bytes, the operand goes through shared
// memory (@bytes).
// RUN: tessera compile %s --kernel words --target sm_90a --emit ttgir -o - | FileCheck %s

// CHECK-LABEL: @words
// CHECK: scf.for
// CHECK: ttg.local_load {{.*}} -> tensor<64x32xi8, #[[BYTES:.*]]>
// CHECK-NOT: ttg.convert_layout
// CHECK-NOT: ttg.local_alloc
// CHECK: tt.elementwise_inline_asm {{.*}} : tensor<64x32xi8, #[[BYTES]]> -> tensor<64x32xbf16, #[[BYTES]]>, tensor<64x32xbf16, #[[BYTES]]>
// CHECK-NOT: ttg.convert_layout
// CHECK-NOT: ttg.local_alloc
// CHECK: ttng.warp_group_dot {{.*}} : tensor<64x64xbf16, #ttg.dot_op<
// CHECK: scf.yield

// CHECK-LABEL: @bytes
// CHECK: scf.for
// CHECK: ttg.local_alloc %{{.*}} : (tensor<64x64xbf16, {{.*}}>)
// CHECK: ttng.warp_group_dot {{.*}} : !ttg.memdesc<64x64xbf16
module {
  tt.func public @words(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant dense<32> : tensor<64x32xi32>
    %c64 = arith.constant dense<64> : tensor<16x64xi32>
    %s64 = arith.constant dense<64> : tensor<16x1xi32>
    %s32 = arith.constant dense<32> : tensor<64x1xi32>
    %s16 = arith.constant dense<16> : tensor<64x1xi32>
    %zero = arith.constant dense<0.0> : tensor<64x16xf32>
    %r16 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %r32 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %r64 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %m = tt.expand_dims %r16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %mk = arith.muli %m, %s64 : tensor<16x1xi32>
    %k = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %mkb = tt.broadcast %mk : tensor<16x1xi32> -> tensor<16x64xi32>
    %kb = tt.broadcast %k : tensor<1x64xi32> -> tensor<16x64xi32>
    %xo = arith.addi %mkb, %kb : tensor<16x64xi32>
    %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<16x64x!tt.ptr<bf16>>
    %xp0 = tt.addptr %xs, %xo : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
    %row = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rows = arith.muli %row, %s32 : tensor<64x1xi32>
    %byte = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rowsb = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x32xi32>
    %byteb = tt.broadcast %byte : tensor<1x32xi32> -> tensor<64x32xi32>
    %wo = arith.addi %rowsb, %byteb : tensor<64x32xi32>
    %ws = tt.splat %w : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
    %wp0 = tt.addptr %ws, %wo : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %xp = %xp0, %wp = %wp0) -> (tensor<64x16xf32>, tensor<16x64x!tt.ptr<bf16>>, tensor<64x32x!tt.ptr<i8>>) : i32 {
      %xv = tt.load %xp : tensor<16x64x!tt.ptr<bf16>>
      %wv = tt.load %wp : tensor<64x32x!tt.ptr<i8>>
      %lo, %hi = tt.elementwise_inline_asm "unpack $0, $1, $2;" {constraints = "=h,=h,r", packed_element = 1 : i32, pure = true} %wv : tensor<64x32xi8> -> tensor<64x32xbf16>, tensor<64x32xbf16>
      %both = tt.join %lo, %hi : tensor<64x32xbf16> -> tensor<64x32x2xbf16>
      %grouped = tt.reshape %both : tensor<64x32x2xbf16> -> tensor<64x2x4x4x2xbf16>
      %turned = tt.trans %grouped {order = array<i32: 0, 1, 3, 2, 4>} : tensor<64x2x4x4x2xbf16> -> tensor<64x2x4x4x2xbf16>
      %a = tt.reshape %turned : tensor<64x2x4x4x2xbf16> -> tensor<64x64xbf16>
      %b = tt.trans %xv {order = array<i32: 1, 0>} : tensor<16x64xbf16> -> tensor<64x16xbf16>
      %d = tt.dot %a, %b, %acc : tensor<64x64xbf16> * tensor<64x16xbf16> -> tensor<64x16xf32>
      %xn = tt.addptr %xp, %c64 : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
      %wn = tt.addptr %wp, %c32 : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
      scf.yield %d, %xn, %wn : tensor<64x16xf32>, tensor<16x64x!tt.ptr<bf16>>, tensor<64x32x!tt.ptr<i8>>
    }
    %yr = arith.muli %row, %s16 : tensor<64x1xi32>
    %yc = tt.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %yrb = tt.broadcast %yr : tensor<64x1xi32> -> tensor<64x16xi32>
    %ycb = tt.broadcast %yc : tensor<1x16xi32> -> tensor<64x16xi32>
    %yo = arith.addi %yrb, %ycb : tensor<64x16xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %yo : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
    tt.store %yp, %r#0 : tensor<64x16x!tt.ptr<f32>>
    tt.return
  }
  tt.func public @bytes(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant dense<32> : tensor<64x32xi32>
    %c64 = arith.constant dense<64> : tensor<16x64xi32>
    %s64 = arith.constant dense<64> : tensor<16x1xi32>
    %s32 = arith.constant dense<32> : tensor<64x1xi32>
    %s16 = arith.constant dense<16> : tensor<64x1xi32>
    %zero = arith.constant dense<0.0> : tensor<64x16xf32>
    %r16 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %r32 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %r64 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %m = tt.expand_dims %r16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %mk = arith.muli %m, %s64 : tensor<16x1xi32>
    %k = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %mkb = tt.broadcast %mk : tensor<16x1xi32> -> tensor<16x64xi32>
    %kb = tt.broadcast %k : tensor<1x64xi32> -> tensor<16x64xi32>
    %xo = arith.addi %mkb, %kb : tensor<16x64xi32>
    %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<16x64x!tt.ptr<bf16>>
    %xp0 = tt.addptr %xs, %xo : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
    %row = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rows = arith.muli %row, %s32 : tensor<64x1xi32>
    %byte = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rowsb = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x32xi32>
    %byteb = tt.broadcast %byte : tensor<1x32xi32> -> tensor<64x32xi32>
    %wo = arith.addi %rowsb, %byteb : tensor<64x32xi32>
    %ws = tt.splat %w : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
    %wp0 = tt.addptr %ws, %wo : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %xp = %xp0, %wp = %wp0) -> (tensor<64x16xf32>, tensor<16x64x!tt.ptr<bf16>>, tensor<64x32x!tt.ptr<i8>>) : i32 {
      %xv = tt.load %xp : tensor<16x64x!tt.ptr<bf16>>
      %wv = tt.load %wp : tensor<64x32x!tt.ptr<i8>>
      %lo, %hi = tt.elementwise_inline_asm "unpack $0, $1, $2;" {constraints = "=h,=h,r", packed_element = 1 : i32, pure = true} %wv : tensor<64x32xi8> -> tensor<64x32xbf16>, tensor<64x32xbf16>
      %both = tt.join %lo, %hi : tensor<64x32xbf16> -> tensor<64x32x2xbf16>
      %a = tt.reshape %both : tensor<64x32x2xbf16> -> tensor<64x64xbf16>
      %b = tt.trans %xv {order = array<i32: 1, 0>} : tensor<16x64xbf16> -> tensor<64x16xbf16>
      %d = tt.dot %a, %b, %acc : tensor<64x64xbf16> * tensor<64x16xbf16> -> tensor<64x16xf32>
      %xn = tt.addptr %xp, %c64 : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
      %wn = tt.addptr %wp, %c32 : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
      scf.yield %d, %xn, %wn : tensor<64x16xf32>, tensor<16x64x!tt.ptr<bf16>>, tensor<64x32x!tt.ptr<i8>>
    }
    %yr = arith.muli %row, %s16 : tensor<64x1xi32>
    %yc = tt.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %yrb = tt.broadcast %yr : tensor<64x1xi32> -> tensor<64x16xi32>
    %ycb = tt.broadcast %yc : tensor<1x16xi32> -> tensor<64x16xi32>
    %yo = arith.addi %yrb, %ycb : tensor<64x16xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %yo : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
    tt.store %yp, %r#0 : tensor<64x16x!tt.ptr<f32>>
    tt.return
  }
}
