// finish-library-calls: the polynomials of cosines, which come after branches, are computed element by element, not all
// of them behind all branches. Exponentials have no such branches.
// RUN: tessera compile %s --kernel cosines --target sm_90a --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --kernel exponentials --target sm_90a --emit llir -o - | FileCheck %s --check-prefix=NONE
// CHECK-LABEL: define ptx_kernel void @cosines
// CHECK: br i1
// CHECK: fma.rn
// CHECK: call float asm "", "=f,0"(float
// CHECK: br i1
// CHECK: fma.rn
// CHECK: call float asm "", "=f,0"(float
// CHECK: ret void
// NONE-LABEL: define ptx_kernel void @exponentials
// NONE-NOT: asm ""
// NONE: ret void
tt.func public @cosines(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %a = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %c = math.cos %a : tensor<256xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %op = tt.addptr %os, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %op, %c : tensor<256x!tt.ptr<f32>>
  tt.return
}
tt.func public @exponentials(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %a = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %c = math.expm1 %a : tensor<256xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %op = tt.addptr %os, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %op, %c : tensor<256x!tt.ptr<f32>>
  tt.return
}
