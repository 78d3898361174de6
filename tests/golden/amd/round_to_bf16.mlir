// Rounding f32 to bf16 in software: every NaN becomes one NaN, so its payload need not be kept, and the check is left
// out where no NaN is possible, or none that rounding changes, as of bf16 arithmetic. Integers of 8 bits need no rounding.
// gfx950 has an instruction.
// RUN: tessera compile %s --kernel rounded --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel rounded --target gfx1100 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel rounded --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=ONE
// RUN: tessera compile %s --kernel counted --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=NONAN
// RUN: tessera compile %s --kernel product --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=PRODUCT
// RUN: tessera compile %s --kernel weights --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=EXACT
// RUN: tessera compile %s --kernel weights --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=EXACT
// CHECK-LABEL: rounded:
// CHECK-NOT: 0x400000
// CHECK: v_bfe_u32
// CHECK-NOT: 0x400000
// CHECK: s_endpgm
// ONE-LABEL: rounded:
// ONE-NOT: v_bfe_u32
// ONE: v_cvt_pk_bf16_f32
// NONAN-LABEL: counted:
// NONAN-NOT: v_cndmask
// NONAN: v_add3_u32
// NONAN-NOT: v_cndmask
// NONAN: s_endpgm
// EXACT-LABEL: weights:
// EXACT-NOT: v_add3_u32
// EXACT-NOT: v_cndmask
// EXACT: v_cvt_f32_
// EXACT-NOT: v_add3_u32
// EXACT-NOT: v_cndmask
// EXACT: s_endpgm
// PRODUCT-LABEL: product:
// PRODUCT: v_mul_f32
// PRODUCT-NOT: v_cndmask
// PRODUCT: v_add3_u32
// PRODUCT-NOT: v_cndmask
// PRODUCT: s_endpgm
tt.func public @rounded(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %pp : tensor<64x!tt.ptr<f32>>
  %y = arith.truncf %x : tensor<64xf32> to tensor<64xbf16>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %qp = tt.addptr %qs, %r : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  tt.store %qp, %y : tensor<64x!tt.ptr<bf16>>
  tt.return
}
tt.func public @counted(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %x = tt.load %pp : tensor<64x!tt.ptr<i32>>
  %f = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
  %y = arith.truncf %f : tensor<64xf32> to tensor<64xbf16>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %qp = tt.addptr %qs, %r : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  tt.store %qp, %y : tensor<64x!tt.ptr<bf16>>
  tt.return
}
tt.func public @product(%p: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  %x = tt.load %pp : tensor<64x!tt.ptr<bf16>>
  %y = arith.mulf %x, %x : tensor<64xbf16>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %qp = tt.addptr %qs, %r : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  tt.store %qp, %y : tensor<64x!tt.ptr<bf16>>
  tt.return
}
tt.func public @weights(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
  %x = tt.load %pp : tensor<64x!tt.ptr<i8>>
  %y = arith.sitofp %x : tensor<64xi8> to tensor<64xbf16>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %qp = tt.addptr %qs, %r : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  tt.store %qp, %y : tensor<64x!tt.ptr<bf16>>
  tt.return
}
