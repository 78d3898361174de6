// The distance by which a buffer's base is moved is added to what offsets have in common, not to each of them: to the
// column of rows that are gathered. Addition and shift are then one instruction.
// RUN: tessera compile %s --target gfx942 --kernel gather --num-warps 1 --emit llir | FileCheck %s
// RUN: tessera compile %s --target gfx942 --kernel gather --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=ISA
// RUN: tessera compile %s --target gfx1201 --kernel gather --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=ISA
// CHECK-LABEL: @gather(
// CHECK: %[[MOVED:.*]] = add i32 %{{.*}}, 536870908
// CHECK-COUNT-2: add i32 %{{.*}}, %[[MOVED]]
// CHECK-NOT: 2147483632
// CHECK: ret void
// ISA-LABEL: {{^}}gather:
// ISA-COUNT-2: v_add_lshl_u32
// ISA-NOT: v_lshl_add_u32 {{.*}}, 2, s
// ISA: s_endpgm
tt.func public @gather(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %index: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %is = tt.splat %index : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %ip = tt.addptr %is, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %row = tt.load %ip : tensor<4x!tt.ptr<i32>>
  %row1 = tt.expand_dims %row {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %rows = tt.broadcast %row1 : tensor<4x1xi32> -> tensor<4x32xi32>
  %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %cn = arith.remsi %c, %ns : tensor<32xi32>
  %c1 = tt.expand_dims %cn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tt.broadcast %c1 : tensor<1x32xi32> -> tensor<4x32xi32>
  %at = arith.addi %rows, %cols : tensor<4x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %at : tensor<4x32x!tt.ptr<f32>>, tensor<4x32xi32>
  %v = tt.load %xp : tensor<4x32x!tt.ptr<f32>>
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r2: f32):
    %t = arith.addf %l, %r2 : f32
    tt.reduce.return %t : f32
  }) : (tensor<4x32xf32>) -> tensor<32xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %op = tt.addptr %os, %c : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %op, %sum : tensor<32x!tt.ptr<f32>>
  tt.return
}
