// Kernels leave the waves' IEEE mode on targets that have it, so that minima and maxima quiet no operands; gfx12 has no
// such mode.
// RUN: tessera compile %s --target gfx90a --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx950 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1200 --emit llir -o - | FileCheck %s --check-prefix=NONE
// RUN: tessera compile %s --target gfx1201 --emit llir -o - | FileCheck %s --check-prefix=NONE
// RUN: tessera compile %s --target gfx942 --emit amdgcn -o - | FileCheck %s --check-prefix=CODE
// CHECK: "amdgpu-ieee"="false"
// NONE: define
// NONE-NOT: amdgpu-ieee
// CODE-NOT: v_max_f32_e32 [[V:v[0-9]+]], [[V]], [[V]]
// CODE: .amdhsa_ieee_mode 0
module {
  tt.func public @largest(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %v = tt.load %q : tensor<256x!tt.ptr<f32>>
    %o = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %w = tt.addptr %o, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %b = tt.load %w : tensor<256x!tt.ptr<f32>>
    %m = arith.maxnumf %v, %b : tensor<256xf32>
    tt.store %w, %m : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
