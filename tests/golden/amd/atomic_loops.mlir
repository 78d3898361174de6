// Loops over compare-and-swap, for additions that the target has no instruction for: what they start with is loaded
// before the first of them.
// RUN: tessera compile %s --kernel rows --target gfx1100 --num-warps 1 --emit amdgcn | FileCheck %s
// CHECK-LABEL: {{^}}rows:
// CHECK-COUNT-4: load_b32
// CHECK: global_atomic_cmpswap
// CHECK-NOT: load_b32
// CHECK: global_atomic_cmpswap
// CHECK: global_atomic_cmpswap
// CHECK: global_atomic_cmpswap
// CHECK-NOT: global_atomic_cmpswap
// CHECK: s_endpgm
tt.func public @rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ones = arith.constant dense<1.000000e+00> : tensor<256xf16>
  %p0 = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %p1 = tt.addptr %p0, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %p1, %ones : (tensor<256x!tt.ptr<f16>>, tensor<256xf16>) -> tensor<256xf16>
  tt.return
}
