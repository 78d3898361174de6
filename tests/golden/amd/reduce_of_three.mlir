// A maximum of a thread's values takes one instruction for three (v_max3), and none to quiet signalling NaNs: the wave's
// IEEE mode is off, so exchanges within a row are operands of the maximum. RDNA 4 has no such mode.
// RUN: tessera compile %s --target gfx950 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 2 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --num-warps 2 --emit amdgcn -o - | FileCheck %s --check-prefix=RDNA4
// Eight values: four instructions.
// CHECK-LABEL: most:
// CHECK-NOT: v_max_f32{{.*}} v[[X:[0-9]+]], v[[Y:[0-9]+]], v[[Y]]
// CHECK-COUNT-3: v_max3_f32
// CHECK-NOT: v_max3_f32
// CHECK: v_max_f32_dpp
// CHECK-NOT: v_max3_f32
// CHECK: .amdhsa_ieee_mode 0
// RDNA4-LABEL: most:
// RDNA4-COUNT-3: v_max3_num_f32
// RDNA4-NOT: amdhsa_ieee_mode
tt.func public @most(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %x = tt.load %pp : tensor<512x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    tt.reduce.return %m : f32
  }) : (tensor<512xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
