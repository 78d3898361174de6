// A loop of two iterations is unrolled.
// RUN: tessera compile %s --target gfx942 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --emit amdgcn | FileCheck %s
// CHECK-LABEL: {{^}}rounds:
// CHECK: global_store
// CHECK-NOT: s_cbranch
// CHECK: global_store
// CHECK-NOT: s_cbranch
// CHECK: s_endpgm
tt.func public @rounds(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %v = tt.splat %x : f32 -> tensor<1024xf32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %r = tt.addptr %q, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  scf.for %k = %c0 to %c2 step %c1 : i32 {
    %o = arith.muli %k, %c2 : i32
    %s = tt.splat %o : i32 -> tensor<1024xi32>
    %a = tt.addptr %r, %s : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %a, %v : tensor<1024x!tt.ptr<f32>>
  }
  tt.return
}
