// Atomic additions to consecutive floats whose result is unused: one 16-byte vector atomic where the target has it,
// otherwise pairs of f16 or scalars.
// RUN: tessera compile %s --kernel halves --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=HOPPER2
// RUN: tessera compile %s --kernel floats --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=HOPPER4
// RUN: tessera compile %s --kernel halves --target sm_80 --emit ptx -o - | FileCheck %s --check-prefix=AMPERE2
// RUN: tessera compile %s --kernel floats --target sm_80 --emit ptx -o - | FileCheck %s --check-prefix=AMPERE4

// HOPPER2: atom.relaxed.gpu.global.add.noftz.v4.f16x2 {
// HOPPER4: atom.relaxed.gpu.global.add.v4.f32 {
// AMPERE2-COUNT-4: atom.relaxed.gpu.global.add.noftz.f16x2 %
// AMPERE4-COUNT-8: atom.relaxed.gpu.global.add.f32 %
tt.func public @halves(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %true = arith.constant dense<true> : tensor<1024xi1>
  %1 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f16>>
  %5 = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %6 = tt.addptr %5, %0 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %7 = tt.atomic_rmw fadd, relaxed, gpu, %6, %3, %true : (tensor<1024x!tt.ptr<f16>>, tensor<1024xf16>, tensor<1024xi1>) -> tensor<1024xf16>
  tt.return
}
tt.func public @floats(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %true = arith.constant dense<true> : tensor<1024xi1>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>>
  %5 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %6 = tt.addptr %5, %0 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %7 = tt.atomic_rmw fadd, relaxed, gpu, %6, %3, %true : (tensor<1024x!tt.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> tensor<1024xf32>
  tt.return
}
