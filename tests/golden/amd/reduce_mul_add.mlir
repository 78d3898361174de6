// A thread of gfx1100 sums x * y up in chains of eight elements, by one mul and seven fma; a thread of CDNA as a
// balanced tree.
// RUN: tessera compile %s --num-warps 1 --target gfx1100 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --num-warps 1 --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=TREE
// CHECK: v_mul_f32
// CHECK-COUNT-7: v_fmac_f32
// CHECK-NOT: v_fmac_f32
// CHECK: v_add_f32_dpp
// TREE-COUNT-2: v_mul_f32
// TREE-COUNT-2: v_fmac_f32
// TREE: v_add_f32_e32
// TREE: v_add_f32_dpp
module {
  tt.func public @sum(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %pa = tt.addptr %ps, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %qa = tt.addptr %qs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %x = tt.load %pa : tensor<256x!tt.ptr<f32>>
    %y = tt.load %qa : tensor<256x!tt.ptr<f32>>
    %z = arith.mulf %x, %y : tensor<256xf32>
    %s = "tt.reduce"(%z) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<256xf32>) -> f32
    tt.store %o, %s : !tt.ptr<f32>
    tt.return
  }
}
