// merge-branches: uses of masked loads are moved after their branches, so that all loads are issued before the first
// wait.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --emit amdgcn -o - | FileCheck %s
// CHECK-LABEL: converted:
// CHECK: s_and_saveexec_b64
// CHECK: global_load_dword
// CHECK-NOT: s_waitcnt vmcnt
// CHECK: s_and_saveexec_b64
// CHECK: global_load_dword
// CHECK: s_waitcnt vmcnt
// CHECK: v_cvt_f32_i32
tt.func public @converted(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %n: i32, %stride: i64) {
  %zero = arith.constant dense<0> : tensor<512xi64>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %w = arith.extsi %r : tensor<512xi32> to tensor<512xi64>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<512xi32>
  %ss = tt.splat %stride : i64 -> tensor<512xi64>
  %o = arith.muli %w, %ss : tensor<512xi64>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %o : tensor<512x!tt.ptr<i32>>, tensor<512xi64>
  %x = tt.load %pp, %m : tensor<512x!tt.ptr<i32>>
  %y = arith.sitofp %x : tensor<512xi32> to tensor<512xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %qp, %y : tensor<512x!tt.ptr<f32>>
  tt.return
}
