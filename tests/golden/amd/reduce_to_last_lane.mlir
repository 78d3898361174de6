// CDNA 3: a whole wave reduces without shared memory's pipeline. Rows of 16 lanes take the sum of the row before, the
// upper half that of the lower, and the last lane's is read to a scalar. Not if halves of a wave have sums of their
// own, and not on CDNA 4, whose halves exchange in one instruction.
// RUN: tessera compile %s --kernel whole --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel halves --target gfx942 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=HALVES
// RUN: tessera compile %s --kernel whole --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=SWAP
// CHECK-LABEL: whole:
// CHECK: v_add_f32_dpp {{.*}} row_mirror
// CHECK: v_add_f32_dpp {{.*}} row_bcast:15
// CHECK: v_add_f32_dpp {{.*}} row_bcast:31
// CHECK: v_readlane_b32 s{{[0-9]+}}, v{{[0-9]+}}, 63
// CHECK-NOT: ds_
// CHECK: s_endpgm
// HALVES-LABEL: halves:
// HALVES-NOT: row_bcast
// HALVES: ds_swizzle_b32
// HALVES-NOT: row_bcast
// HALVES: s_endpgm
// SWAP-LABEL: whole:
// SWAP-NOT: row_bcast
// SWAP: v_permlane32_swap
// SWAP: s_endpgm
module {
  tt.func public @whole(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
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
  tt.func public @halves(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %pp : tensor<64x!tt.ptr<f32>>
    %y = tt.reshape %x : tensor<64xf32> -> tensor<2x32xf32>
    %s = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<2x32xf32>) -> tensor<2xf32>
    %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<2x!tt.ptr<f32>>
    %qq = tt.addptr %qs, %i : tensor<2x!tt.ptr<f32>>, tensor<2xi32>
    tt.store %qq, %s : tensor<2x!tt.ptr<f32>>
    tt.return
  }
}
