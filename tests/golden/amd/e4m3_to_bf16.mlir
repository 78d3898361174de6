// 8-bit floats (E4M3) to bf16, which holds them exactly: without rounding, by way of f32, whose upper halves they are.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: widen:
// CHECK-NOT: {{v_cndmask|v_add3|v_bfe|v_cmp}}
// CHECK-COUNT-2: v_perm_b32
// CHECK-NOT: {{v_cndmask|v_add3|v_bfe|v_cmp}}
// CHECK: s_endpgm
tt.func public @widen(%x: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<256x!tt.ptr<f8E4M3FN>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f8E4M3FN>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f8E4M3FN>>
  %w = tt.fp_to_fp %v : tensor<256xf8E4M3FN> -> tensor<256xbf16>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
  %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
  tt.store %yp, %w : tensor<256x!tt.ptr<bf16>>
  tt.return
}
