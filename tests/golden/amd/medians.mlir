// Clamps of several elements are medians whose opposite bounds are one scalar register. One clamp, other bounds for
// each of two, and minima first, which NaN leaves otherwise, stay.
// RUN: tessera compile %s --kernel clamped --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel clamped --target gfx1100 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=RDNA
// RUN: tessera compile %s --kernel uneven --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=UNEVEN
// RUN: tessera compile %s --kernel once --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=ONCE
// RUN: tessera compile %s --kernel minimum_first --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=FIRST
// CHECK-LABEL: {{^}}clamped:
// CHECK-NOT: v_mov_b32{{.*}}, 0x{{[4c]}}
// CHECK-NOT: v_max_f32
// CHECK: s_mov_b32 [[B:s[0-9]+]], 0x{{[4c]}}55bc000
// CHECK-COUNT-4: v_med3_f32 {{.*}}, [[B]], -[[B]]
// CHECK: s_endpgm
// RDNA-LABEL: {{^}}clamped:
// RDNA: s_mov_b32 [[B:s[0-9]+]], 0x{{[4c]}}55bc000
// RDNA-COUNT-4: v_maxmin_f32 {{.*}}, [[B]], -[[B]]
// RDNA: s_endpgm
// UNEVEN-LABEL: {{^}}uneven:
// UNEVEN-DAG: s_mov_b32 [[L:s[0-9]+]], 0xc3000000
// UNEVEN-DAG: v_mov_b32_e32 [[U:v[0-9]+]], 0x42fe0000
// UNEVEN-COUNT-4: v_med3_f32 {{.*}}, [[L]], [[U]]
// UNEVEN: s_endpgm
// ONCE-LABEL: {{^}}once:
// ONCE: v_max_f32_e32
// ONCE: v_min_f32_e32
// ONCE: s_endpgm
// FIRST-LABEL: {{^}}minimum_first:
// FIRST-NOT: v_med3
// FIRST-COUNT-4: v_max_f32
// FIRST-NOT: v_med3
// FIRST: s_endpgm
tt.func public @clamped(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %lower = arith.constant dense<-3516.0> : tensor<256xf32>
  %upper = arith.constant dense<3516.0> : tensor<256xf32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %c = tt.clampf %v, %lower, %upper, propagateNan = none : tensor<256xf32>
  tt.store %xp, %c : tensor<256x!tt.ptr<f32>>
  tt.return
}
tt.func public @uneven(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %lower = arith.constant dense<-128.0> : tensor<256xf32>
  %upper = arith.constant dense<127.0> : tensor<256xf32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %c = tt.clampf %v, %lower, %upper, propagateNan = none : tensor<256xf32>
  tt.store %xp, %c : tensor<256x!tt.ptr<f32>>
  tt.return
}
tt.func public @once(%x: !tt.ptr<f32>) {
  %lower = arith.constant dense<-3516.0> : tensor<64xf32>
  %upper = arith.constant dense<3516.0> : tensor<64xf32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<f32>>
  %c = tt.clampf %v, %lower, %upper, propagateNan = none : tensor<64xf32>
  tt.store %xp, %c : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @minimum_first(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %lower = arith.constant dense<-3516.0> : tensor<256xf32>
  %upper = arith.constant dense<3516.0> : tensor<256xf32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %a = arith.minnumf %v, %upper : tensor<256xf32>
  %c = arith.maxnumf %a, %lower : tensor<256xf32>
  tt.store %xp, %c : tensor<256x!tt.ptr<f32>>
  tt.return
}
