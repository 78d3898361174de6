// tt.precise_divf of f32 is correctly rounded: the full division sequence with two corrections. Divisions by the same
// number share its reciprocal.
// RUN: tessera compile %s --kernel precise --target gfx942 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=PRECISE
// RUN: tessera compile %s --kernel precise --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=PRECISE
// RUN: tessera compile %s --kernel shared --target gfx942 --num-warps 1 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --kernel shared --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s
// PRECISE-LABEL: {{^}}precise:
// PRECISE: v_div_scale_f32
// PRECISE: v_div_fmas_f32
// PRECISE: v_div_fixup_f32
// CHECK-LABEL: {{^}}shared:
// CHECK: v_rcp_f32
// CHECK-NOT: v_rcp_f32
// CHECK-NOT: v_div_scale_f32
// CHECK: v_div_fixup_f32
// CHECK: v_div_fixup_f32
// CHECK: s_endpgm
module {
  tt.func public @precise(%p: !tt.ptr<f32>, %x: f32, %y: f32) {
    %q = tt.precise_divf %x, %y : f32
    tt.store %p, %q : !tt.ptr<f32>
    tt.return
  }
  tt.func public @shared(%p: !tt.ptr<f32>, %x: f32, %y: f32, %z: f32) {
    %q = arith.divf %x, %y : f32
    %r = arith.divf %z, %y : f32
    %s = arith.mulf %q, %r : f32
    tt.store %p, %s : !tt.ptr<f32>
    tt.return
  }
}
