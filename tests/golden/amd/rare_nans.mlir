// Conversions of eight numbers to 8-bit floats ask by a sum of pairs, and of two others, whether any is NaN, and select
// NaNs in a branch. One number, for which that is no fewer instructions, a target that pairs instructions, and numbers that are
// clamped before have none; nor has a block with MFMA.
// RUN: tessera compile %s --kernel eight --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel eight --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=RDNA
// RUN: tessera compile %s --kernel one --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=ONE
// RUN: tessera compile %s --kernel clamped --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=CLAMPED
// RUN: tessera compile %s --kernel dots --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=DOTS
// CHECK-LABEL: {{^}}eight:
// CHECK-NOT: v_cndmask_b32
// CHECK: v_pk_add_f32 v[[[X:[0-9]+]]:[[Y:[0-9]+]]],
// CHECK-DAG: v_cmp_u_f32{{.*}}, v[[X]], v[[Y]]
// CHECK-DAG: v_cmp_u_f32
// CHECK-NOT: v_cndmask_b32
// CHECK: s_cbranch_scc0 [[RARE:.LBB[0-9_]+]]
// CHECK-NOT: v_cndmask_b32
// CHECK-COUNT-4: v_cvt_pk_fp8_f32
// CHECK: s_endpgm
// CHECK: [[RARE]]:
// CHECK-COUNT-8: v_cndmask_b32
// RDNA-LABEL: {{^}}eight:
// RDNA-NOT: s_cbranch
// RDNA: v_cvt_pk_fp8_f32
// RDNA: s_endpgm
// ONE-LABEL: {{^}}one:
// ONE-NOT: s_cbranch
// ONE: v_cndmask_b32
// ONE-NOT: s_cbranch
// ONE: v_cvt_pk_fp8_f32
// ONE: s_endpgm
// CLAMPED-LABEL: {{^}}clamped:
// CLAMPED-COUNT-4: v_med3_f32
// CLAMPED-NOT: {{v_med3_f32|v_cndmask|s_cbranch}}
// CLAMPED: v_cvt_pk_fp8_f32
// CLAMPED: s_endpgm
// DOTS-LABEL: {{^}}dots:
// DOTS-NOT: s_cbranch
// DOTS: v_mfma_
// DOTS-NOT: s_cbranch
// DOTS: v_cvt_pk_fp8_f32
// DOTS: s_endpgm
tt.func public @eight(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32},
                     %scale: f32) {
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<512x!tt.ptr<bf16>>
  %xp = tt.addptr %xs, %r : tensor<512x!tt.ptr<bf16>>, tensor<512xi32>
  %v = tt.load %xp : tensor<512x!tt.ptr<bf16>>
  %f = arith.extf %v : tensor<512xbf16> to tensor<512xf32>
  %s = tt.splat %scale : f32 -> tensor<512xf32>
  %w = arith.mulf %f, %s : tensor<512xf32>
  %c = tt.fp_to_fp %w, rounding = rtne : tensor<512xf32> -> tensor<512xf8E4M3FN>
  %ys = tt.splat %y : !tt.ptr<f8E4M3FN> -> tensor<512x!tt.ptr<f8E4M3FN>>
  %yp = tt.addptr %ys, %r : tensor<512x!tt.ptr<f8E4M3FN>>, tensor<512xi32>
  tt.store %yp, %c : tensor<512x!tt.ptr<f8E4M3FN>>
  tt.return
}
tt.func public @one(%x: !tt.ptr<f32>, %y: !tt.ptr<f8E4M3FN>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<f32>>
  %c = tt.fp_to_fp %v, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %ys = tt.splat %y : !tt.ptr<f8E4M3FN> -> tensor<64x!tt.ptr<f8E4M3FN>>
  %yp = tt.addptr %ys, %r : tensor<64x!tt.ptr<f8E4M3FN>>, tensor<64xi32>
  tt.store %yp, %c : tensor<64x!tt.ptr<f8E4M3FN>>
  tt.return
}
tt.func public @clamped(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}) {
  %lower = arith.constant dense<-448.0> : tensor<256xf32>
  %upper = arith.constant dense<448.0> : tensor<256xf32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %w = tt.clampf %v, %lower, %upper, propagateNan = none : tensor<256xf32>
  %c = tt.fp_to_fp %w, rounding = rtne : tensor<256xf32> -> tensor<256xf8E4M3FN>
  %ys = tt.splat %y : !tt.ptr<f8E4M3FN> -> tensor<256x!tt.ptr<f8E4M3FN>>
  %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<f8E4M3FN>>, tensor<256xi32>
  tt.store %yp, %c : tensor<256x!tt.ptr<f8E4M3FN>>
  tt.return
}
tt.func public @dots(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
  %h = arith.truncf %v : tensor<256xf32> to tensor<256xf16>
  %a = tt.reshape %h : tensor<256xf16> -> tensor<16x16xf16>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %c = tt.fp_to_fp %d, rounding = rtne : tensor<16x16xf32> -> tensor<16x16xf8E4M3FN>
  %f = tt.reshape %c : tensor<16x16xf8E4M3FN> -> tensor<256xf8E4M3FN>
  %ys = tt.splat %y : !tt.ptr<f8E4M3FN> -> tensor<256x!tt.ptr<f8E4M3FN>>
  %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<f8E4M3FN>>, tensor<256xi32>
  tt.store %yp, %f : tensor<256x!tt.ptr<f8E4M3FN>>
  tt.return
}
