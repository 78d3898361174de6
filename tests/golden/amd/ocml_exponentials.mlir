// ocml's erf of f32 calls its exponential, which reduces the argument to x - rint(x): v_exp_f32 needs no scaling for
// denormal results there. The one ldexp is that of the integer part.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: erf:
// CHECK-NOT: v_ldexp_f32
// CHECK: v_exp_f32
// CHECK-NOT: v_exp_f32
// CHECK: v_ldexp_f32
// CHECK-NOT: {{v_exp_f32|v_ldexp_f32}}
// CHECK: s_endpgm
module {
  tt.func public @erf(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %q = tt.addptr %s, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %x = tt.load %q : tensor<32x!tt.ptr<f32>>
    %y = math.erf %x : tensor<32xf32>
    tt.store %q, %y : tensor<32x!tt.ptr<f32>>
    tt.return
  }
}
