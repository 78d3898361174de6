// gfx950 exchanges halves of a wave (v_permlane32_swap): a reduction combines both results without selecting a lane's
// own.
// RUN: tessera compile %s --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: sum:
// CHECK-NOT: v_mbcnt
// CHECK: v_permlane16_swap_b32
// CHECK-NOT: v_cndmask
// CHECK: v_permlane32_swap_b32
// CHECK-NOT: v_cndmask
// CHECK: global_store_dword
tt.func public @sum(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %pp : tensor<64x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
