// e2m1 on AMD: four bytes' halves are looked up in tables of 8 bytes by v_perm_b32, the low and the high halves of a word.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=RDNA
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=RDNA
// CHECK-LABEL: k:
// CHECK-NOT: v_cndmask
// CHECK-COUNT-12: v_perm_b32
// CHECK-NOT: v_perm_b32
// CHECK-NOT: v_cndmask
// CHECK: s_endpgm
// RDNA-LABEL: k:
// RDNA-NOT: v_cndmask
// RDNA-COUNT-24: v_perm_b32
// RDNA-NOT: v_perm_b32
// RDNA-NOT: v_cndmask
// RDNA: s_endpgm
tt.func public @k(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %pp = tt.addptr %ps, %r : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  %x = tt.load %pp : tensor<256x!tt.ptr<i8>>
  %l = tt.e2m1_to_fp %x {high = false} : tensor<256xi8> -> tensor<256xf32>
  %h = tt.e2m1_to_fp %x {high = true} : tensor<256xi8> -> tensor<256xf32>
  %y = arith.addf %l, %h : tensor<256xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %qp = tt.addptr %qs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %qp, %y : tensor<256x!tt.ptr<f32>>
  tt.return
}
