// Two addresses at one index shift it in their additions; a shift whose result is stored, too, stays.
// RUN: tessera compile %s --kernel copy --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel stored --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=STORED
// CHECK-LABEL: {{^}}copy:
// CHECK-NOT: v_lshlrev_b64
// CHECK: v_lshl_add_u64 v[{{[0-9:]+}}], v[[[I:[0-9:]+]]], 2, s[{{[0-9:]+}}]
// CHECK-NOT: v_lshlrev_b64
// CHECK: v_lshl_add_u64 v[{{[0-9:]+}}], v[[[I]]], 2, s[{{[0-9:]+}}]
// CHECK-NOT: v_lshlrev_b64
// CHECK: s_endpgm
// STORED-LABEL: {{^}}stored:
// STORED: v_lshlrev_b64 [[S:v\[[0-9:]+\]]], 2,
// STORED: v_lshl_add_u64 {{.*}}, 0, [[S]]
// STORED: global_store_dwordx2 {{.*}}, [[S]]
// STORED: s_endpgm
tt.func public @copy(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {
  %c = arith.constant 64 : i32
  %p = tt.get_program_id x : i32
  %b = arith.muli %p, %c : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bs = tt.splat %b : i32 -> tensor<64xi32>
  %i = arith.addi %bs, %r : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %xp, %m : tensor<64x!tt.ptr<i32>>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %yp, %v, %m : tensor<64x!tt.ptr<i32>>
  tt.return
}
tt.func public @stored(%x: !tt.ptr<i32>, %y: !tt.ptr<i64>) {
  %two = arith.constant dense<2> : tensor<64xi64>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ys = tt.splat %y : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
  %yp = tt.addptr %ys, %r : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
  %i = tt.load %yp : tensor<64x!tt.ptr<i64>>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi64>
  %one = arith.constant dense<1> : tensor<64xi32>
  tt.store %xp, %one : tensor<64x!tt.ptr<i32>>
  %s = arith.shli %i, %two : tensor<64xi64>
  tt.store %yp, %s : tensor<64x!tt.ptr<i64>>
  tt.return
}
