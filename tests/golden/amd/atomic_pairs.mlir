// Additions of 16-bit floats that the target has no instruction for: a loop over compare-and-swap adds a pair at once
// where pairs are aligned, else one number.
// RUN: tessera compile %s --kernel pairs --target gfx1100 --num-warps 1 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --kernel bf16 --target gfx90a --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=BF16
// CHECK-LABEL: {{^}}pairs:
// CHECK: v_pk_add_f16
// CHECK: global_atomic_cmpswap
// CHECK-NOT: global_atomic_cmpswap
// CHECK: s_endpgm
// CHECK-LABEL: {{^}}odd:
// CHECK: global_atomic_cmpswap
// CHECK: global_atomic_cmpswap
// CHECK: s_endpgm
// BF16-LABEL: {{^}}bf16:
// BF16: global_atomic_cmpswap
// BF16-NOT: global_atomic_cmpswap
// BF16: s_endpgm
tt.func public @pairs(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ones = arith.constant dense<1.000000e+00> : tensor<64xf16>
  %p0 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %p1 = tt.addptr %p0, %i : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %p1, %ones : (tensor<64x!tt.ptr<f16>>, tensor<64xf16>) -> tensor<64xf16>
  tt.return
}
tt.func public @odd(%p: !tt.ptr<f16> {tt.pointer_range = 32 : i32}) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ones = arith.constant dense<1.000000e+00> : tensor<64xf16>
  %p0 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %p1 = tt.addptr %p0, %i : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %p1, %ones : (tensor<64x!tt.ptr<f16>>, tensor<64xf16>) -> tensor<64xf16>
  tt.return
}
tt.func public @bf16(%p: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ones = arith.constant dense<1.000000e+00> : tensor<128xbf16>
  %p0 = tt.splat %p : !tt.ptr<bf16> -> tensor<128x!tt.ptr<bf16>>
  %p1 = tt.addptr %p0, %i : tensor<128x!tt.ptr<bf16>>, tensor<128xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %p1, %ones : (tensor<128x!tt.ptr<bf16>>, tensor<128xbf16>) -> tensor<128xbf16>
  tt.return
}
