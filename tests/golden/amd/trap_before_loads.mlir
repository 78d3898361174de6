// Code after an assertion compiles for gfx11, where a trap is an instruction sequence with a loop.
// RUN: tessera compile %s --target gfx1100 --num-warps 1 -o %t.hsaco
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit llir -o - | FileCheck %s

// CHECK: call void @tessera.trap()
// CHECK: define internal void @tessera.trap()
// CHECK-NEXT: entry:
// CHECK-NEXT: call void @llvm.trap()
tt.func public @checked(%i: !tt.ptr<i64>, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %pid = tt.get_program_id x : i32
  %ip = tt.addptr %i, %pid : !tt.ptr<i64>, i32
  %index = tt.load %ip : !tt.ptr<i64>
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi sge, %index, %zero : i64
  %oks = tt.splat %ok : i1 -> tensor<128xi1>
  tt.assert %oks, "index is negative" : tensor<128xi1>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %wide = arith.extsi %range : tensor<128xi32> to tensor<128xi64>
  %row = arith.constant 128 : i64
  %start = arith.muli %index, %row : i64
  %starts = tt.splat %start : i64 -> tensor<128xi64>
  %at = arith.addi %starts, %wide : tensor<128xi64>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %src = tt.addptr %ps, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
  %v = tt.load %src : tensor<128x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %dst = tt.addptr %qs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
  tt.store %dst, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}
