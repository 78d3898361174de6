// f16 arithmetic uses packed instructions on RDNA.
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: sum:
// CHECK-COUNT-4: v_pk_add_f16
// CHECK-NOT: v_add_f16
// CHECK: s_endpgm
tt.func public @sum(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %pp = tt.addptr %ps, %r : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %r : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %x = tt.load %pp : tensor<256x!tt.ptr<f16>>
  %y = tt.load %qp : tensor<256x!tt.ptr<f16>>
  %z = arith.addf %x, %y : tensor<256xf16>
  tt.store %qp, %z : tensor<256x!tt.ptr<f16>>
  tt.return
}
