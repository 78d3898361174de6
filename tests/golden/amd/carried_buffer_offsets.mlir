// Offsets of buffer accesses that a loop carries: strength reduction does not see the sums that they start from, so that
// it does not add the columns to each row in every iteration. Other integers that the loop carries stay as they are.
// RUN: tessera compile %s --target gfx1100 --num-warps 4 --emit llir | FileCheck %s
// CHECK: %[[START:.*]] = freeze i32
// CHECK: {{^}}for:
// CHECK: phi i32 {{.*}}%[[START]], %
// CHECK: phi i32 {{.*}}[ 0, %
// CHECK: call {{.*}} @llvm.amdgcn.raw.ptr.buffer.load
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
  %step = arith.constant dense<64> : tensor<32x64xi32>
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s = tt.splat %stride : i32 -> tensor<32x1xi32>
  %rs = arith.muli %r1, %s : tensor<32x1xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ra = tt.broadcast %rs : tensor<32x1xi32> -> tensor<32x64xi32>
  %ca = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %at = arith.addi %ra, %ca : tensor<32x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %at : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
  %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zeros, %p = %p0) -> (tensor<32x64xf32>, tensor<32x64x!tt.ptr<f32>>) : i32 {
    %left = arith.subi %n, %i : i32
    %l = tt.splat %left : i32 -> tensor<1x64xi32>
    %m = arith.cmpi slt, %c1, %l : tensor<1x64xi32>
    %mask = tt.broadcast %m : tensor<1x64xi1> -> tensor<32x64xi1>
    %v = tt.load %p, %mask, %zeros : tensor<32x64x!tt.ptr<f32>>
    %a = arith.addf %acc, %v : tensor<32x64xf32>
    %q = tt.addptr %p, %step : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    scf.yield %a, %q : tensor<32x64xf32>, tensor<32x64x!tt.ptr<f32>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
  tt.store %op, %sum#0 : tensor<32x64x!tt.ptr<f32>>
  tt.return
}
