// Atomics in buffers of less than 2 GiB by offsets that may be negative: a scalar base, moved back by 2 GiB, and an
// offset of 32 bits for each lane, instead of an address of 64 bits.
// RUN: tessera compile %s --kernel added --target gfx950 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=ADDED
// RUN: tessera compile %s --kernel swapped --target gfx950 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=SWAPPED
// RUN: tessera compile %s --kernel added --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=ADDED
// RUN: tessera compile %s --kernel swapped --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=SWAPPED
// ADDED-LABEL: {{^}}added:
// ADDED-NOT: v_lshl_add_u64
// ADDED-NOT: v_add_co
// ADDED: global_atomic_add_f32 v{{[0-9]+}}, v{{[0-9]+}}, s[
// ADDED: s_endpgm
// SWAPPED-LABEL: {{^}}swapped:
// SWAPPED: global_atomic_cmpswap{{.*}} v{{[0-9]+}}, v[{{[0-9:]+}}], s[
// SWAPPED: s_endpgm
tt.func public @added(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.splat %n : i32 -> tensor<128xi32>
  %i = arith.muli %range, %s : tensor<128xi32>
  %ones = arith.constant dense<1.000000e+00> : tensor<128xf32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %p1, %ones : (tensor<128x!tt.ptr<f32>>, tensor<128xf32>) -> tensor<128xf32>
  tt.return
}
tt.func public @swapped(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.splat %n : i32 -> tensor<128xi32>
  %i = arith.muli %range, %s : tensor<128xi32>
  %zeros = arith.constant dense<0> : tensor<128xi32>
  %p0 = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %p1 = tt.addptr %p0, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %old = tt.atomic_cas relaxed, gpu, %p1, %zeros, %range : (tensor<128x!tt.ptr<i32>>, tensor<128xi32>, tensor<128xi32>) -> tensor<128xi32>
  tt.return
}
