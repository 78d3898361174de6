// An A operand that a loop computes from a load: wgmma takes it from registers, read from the copy's buffer, without a
// second buffer.
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit ttgir -o - | FileCheck %s
module {
  // CHECK-LABEL: @narrowed
  // CHECK: scf.for
  // CHECK: %[[A:.*]] = ttg.local_load {{.*}} -> tensor<64x16xf32, #ttg.dot_op<{opIdx = 0
  // CHECK: %[[H:.*]] = arith.truncf %[[A]]
  // CHECK-NOT: ttg.local_alloc %
  // CHECK: ttng.warp_group_dot %[[H]],
  // CHECK: scf.yield
  tt.func public @narrowed(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %row = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %k = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %kr = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %col = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s32 = arith.constant dense<32> : tensor<64x1xi32>
    %s64 = arith.constant dense<64> : tensor<32x1xi32>
    %s64r = arith.constant dense<64> : tensor<64x1xi32>
    %step = arith.constant dense<2048> : tensor<64x32xi32>
    %stepb = arith.constant dense<2048> : tensor<32x64xi32>
    %a0 = arith.muli %row, %s32 : tensor<64x1xi32>
    %a1 = tt.broadcast %a0 : tensor<64x1xi32> -> tensor<64x32xi32>
    %a2 = tt.broadcast %k : tensor<1x32xi32> -> tensor<64x32xi32>
    %a3 = arith.addi %a1, %a2 : tensor<64x32xi32>
    %a4 = tt.splat %p : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %pa = tt.addptr %a4, %a3 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    %b0 = arith.muli %kr, %s64 : tensor<32x1xi32>
    %b1 = tt.broadcast %b0 : tensor<32x1xi32> -> tensor<32x64xi32>
    %b2 = tt.broadcast %col : tensor<1x64xi32> -> tensor<32x64xi32>
    %b3 = arith.addi %b1, %b2 : tensor<32x64xi32>
    %b4 = tt.splat %q : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
    %pb = tt.addptr %b4, %b3 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %xa = %pa, %xb = %pb) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f32>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
      %a = tt.load %xa : tensor<64x32x!tt.ptr<f32>>
      %h = arith.truncf %a : tensor<64x32xf32> to tensor<64x32xf16>
      %b = tt.load %xb : tensor<32x64x!tt.ptr<f16>>
      %m = tt.dot %h, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %ya = tt.addptr %xa, %step : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
      %yb = tt.addptr %xb, %stepb : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %m, %ya, %yb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f32>>, tensor<32x64x!tt.ptr<f16>>
    }
    %o0 = arith.muli %row, %s64r : tensor<64x1xi32>
    %o1 = tt.broadcast %o0 : tensor<64x1xi32> -> tensor<64x64xi32>
    %o2 = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
    %o3 = arith.addi %o1, %o2 : tensor<64x64xi32>
    %o4 = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %po = tt.addptr %o4, %o3 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %po, %d#0 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
