// 8-bit floats (E4M3) to f16 where there is no instruction: two numbers at a time.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: widen:
// CHECK-NOT: v_cndmask
// CHECK-COUNT-2: v_pk_mul_f16
// CHECK-NOT: {{v_mul_f16|v_cndmask}}
// CHECK: s_endpgm
tt.func public @widen(%x: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<256x!tt.ptr<f8E4M3FN>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f8E4M3FN>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f8E4M3FN>>
  %w = tt.fp_to_fp %v : tensor<256xf8E4M3FN> -> tensor<256xf16>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  tt.store %yp, %w : tensor<256x!tt.ptr<f16>>
  tt.return
}
