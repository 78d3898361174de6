// tt.approx_divf of f32 is each vendor's fastest division.
// RUN: tessera compile %s --target sm_90a --num-warps 1 --emit ptx | FileCheck %s --check-prefix=PTX
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s
// PTX: div.approx.f32
// CHECK-LABEL: {{^}}approximate:
// CHECK-NOT: v_div_
// CHECK: v_{{(s_)?}}rcp_f32
// CHECK-NOT: v_div_
// CHECK: s_endpgm
module {
  tt.func public @approximate(%p: !tt.ptr<f32>, %x: f32, %y: f32) {
    %q = tt.approx_divf %x, %y : f32
    tt.store %p, %q : !tt.ptr<f32>
    tt.return
  }
}
