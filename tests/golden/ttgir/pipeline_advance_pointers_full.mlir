// Pointers that advance are held in registers: not beside accumulators of 224 registers of a thread, which leave no room.
// RUN: tessera compile %s --kernel full --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s
// RUN: tessera compile %s --kernel room --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=ROOM
// CHECK-LABEL: @full
// CHECK: scf.for
// CHECK-NOT: tensor<64x64x!tt.ptr<f16>
// CHECK: ttg.async_wait
// CHECK: scf.yield
// ROOM-LABEL: @room
// ROOM: scf.for {{.*}} tensor<64x64x!tt.ptr<f16>
// ROOM: scf.yield
tt.func public @full(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r0 = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %col0 = tt.expand_dims %r0 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %w0 = tt.broadcast %col0 : tensor<1x256xi32> -> tensor<64x256xi32>
  %d0 = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x256xi32>
  %o0 = arith.addi %d0, %w0 : tensor<64x256xi32>
  %b0 = tt.splat %b : !tt.ptr<f16> -> tensor<64x256x!tt.ptr<f16>>
  %p0 = tt.addptr %b0, %o0 : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
  %y0 = tt.load %p0 : tensor<64x256x!tt.ptr<f16>>
  %z0 = arith.constant dense<0.0> : tensor<64x256xf32>
  %r1 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %col1 = tt.expand_dims %r1 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %w1 = tt.broadcast %col1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %d1 = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x128xi32>
  %o1 = arith.addi %d1, %w1 : tensor<64x128xi32>
  %b1 = tt.splat %b : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %p1 = tt.addptr %b1, %o1 : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
  %y1 = tt.load %p1 : tensor<64x128x!tt.ptr<f16>>
  %z1 = arith.constant dense<0.0> : tensor<64x128xf32>
  %r2 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %col2 = tt.expand_dims %r2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %w2 = tt.broadcast %col2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %d2 = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %o2 = arith.addi %d2, %w2 : tensor<64x64xi32>
  %b2 = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p2 = tt.addptr %b2, %o2 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %y2 = tt.load %p2 : tensor<64x64x!tt.ptr<f16>>
  %z2 = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc:3 = scf.for %i = %c0 to %k step %c1 iter_args(%s0 = %z0, %s1 = %z1, %s2 = %z2) -> (tensor<64x256xf32>, tensor<64x128xf32>, tensor<64x64xf32>)  : i32 {
    %at = arith.muli %i, %c64 : i32
    %ats = tt.splat %at : i32 -> tensor<64xi32>
    %along = arith.addi %ats, %range : tensor<64xi32>
    %column = tt.expand_dims %along {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
    %p = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %e0 = tt.dot %x, %y0, %s0 : tensor<64x64xf16> * tensor<64x256xf16> -> tensor<64x256xf32>
    %e1 = tt.dot %x, %y1, %s1 : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %e2 = tt.dot %x, %y2, %s2 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %e0, %e1, %e2 : tensor<64x256xf32>, tensor<64x128xf32>, tensor<64x64xf32>
  }
  %q0 = tt.splat %c : !tt.ptr<f32> -> tensor<64x256x!tt.ptr<f32>>
  %t0 = tt.addptr %q0, %o0 : tensor<64x256x!tt.ptr<f32>>, tensor<64x256xi32>
  tt.store %t0, %acc#0 : tensor<64x256x!tt.ptr<f32>>
  %q1 = tt.splat %c : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
  %t1 = tt.addptr %q1, %o1 : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
  tt.store %t1, %acc#1 : tensor<64x128x!tt.ptr<f32>>
  %q2 = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %t2 = tt.addptr %q2, %o2 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %t2, %acc#2 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

tt.func public @room(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r0 = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %col0 = tt.expand_dims %r0 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %w0 = tt.broadcast %col0 : tensor<1x256xi32> -> tensor<64x256xi32>
  %d0 = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x256xi32>
  %o0 = arith.addi %d0, %w0 : tensor<64x256xi32>
  %b0 = tt.splat %b : !tt.ptr<f16> -> tensor<64x256x!tt.ptr<f16>>
  %p0 = tt.addptr %b0, %o0 : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
  %y0 = tt.load %p0 : tensor<64x256x!tt.ptr<f16>>
  %z0 = arith.constant dense<0.0> : tensor<64x256xf32>
  %r1 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %col1 = tt.expand_dims %r1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %w1 = tt.broadcast %col1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %d1 = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %o1 = arith.addi %d1, %w1 : tensor<64x64xi32>
  %b1 = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p1 = tt.addptr %b1, %o1 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %y1 = tt.load %p1 : tensor<64x64x!tt.ptr<f16>>
  %z1 = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc:2 = scf.for %i = %c0 to %k step %c1 iter_args(%s0 = %z0, %s1 = %z1) -> (tensor<64x256xf32>, tensor<64x64xf32>)  : i32 {
    %at = arith.muli %i, %c64 : i32
    %ats = tt.splat %at : i32 -> tensor<64xi32>
    %along = arith.addi %ats, %range : tensor<64xi32>
    %column = tt.expand_dims %along {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
    %p = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %e0 = tt.dot %x, %y0, %s0 : tensor<64x64xf16> * tensor<64x256xf16> -> tensor<64x256xf32>
    %e1 = tt.dot %x, %y1, %s1 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %e0, %e1 : tensor<64x256xf32>, tensor<64x64xf32>
  }
  %q0 = tt.splat %c : !tt.ptr<f32> -> tensor<64x256x!tt.ptr<f32>>
  %t0 = tt.addptr %q0, %o0 : tensor<64x256x!tt.ptr<f32>>, tensor<64x256xi32>
  tt.store %t0, %acc#0 : tensor<64x256x!tt.ptr<f32>>
  %q1 = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %t1 = tt.addptr %q1, %o1 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %t1, %acc#1 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
