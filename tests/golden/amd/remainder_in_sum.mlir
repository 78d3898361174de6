// A signed remainder by a constant to which something is added is one sum of three; what is stored as it is stays LLVM's.
// RUN: tessera compile %s --kernel added --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel stored --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=STORED
// CHECK-LABEL: {{^}}added:
// CHECK: v_mul_hi_i32 [[Q:v[0-9]+]], [[X:v[0-9]+]], s{{[0-9]+}}
// CHECK: v_ashrrev_i32_e32 [[S:v[0-9]+]], 31, [[X]]
// CHECK: v_sub_u32_e32 [[N:v[0-9]+]], [[S]], [[Q]]
// CHECK: v_lshl_add_u32 [[T:v[0-9]+]], [[N]], 1, [[N]]
// CHECK: v_add3_u32 {{v[0-9]+}}, [[X]], [[T]],
// CHECK: s_endpgm
// STORED-LABEL: {{^}}stored:
// STORED: v_mul_hi_i32
// STORED-NOT: v_add3_u32
// STORED: v_sub_u32_e32
// STORED: s_endpgm
tt.func public @added(%x: !tt.ptr<i32>) {
  %three = arith.constant dense<3> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<i32>>
  %m = arith.remsi %v, %three : tensor<64xi32>
  %s = arith.addi %m, %r : tensor<64xi32>
  tt.store %xp, %s : tensor<64x!tt.ptr<i32>>
  tt.return
}
tt.func public @stored(%x: !tt.ptr<i32>) {
  %three = arith.constant dense<3> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<i32>>
  %m = arith.remsi %v, %three : tensor<64xi32>
  tt.store %xp, %m : tensor<64x!tt.ptr<i32>>
  tt.return
}
