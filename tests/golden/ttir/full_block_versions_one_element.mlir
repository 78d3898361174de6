// full-block-versions: how many elements a thread has.
// RUN: tessera opt %s -full-block-versions=num-warps=8 --target sm_90a | FileCheck %s
// RUN: tessera opt %s -full-block-versions=num-warps=4 --target gfx942 | FileCheck %s
// RUN: tessera opt %s -full-block-versions --target gfx942 | FileCheck %s --check-prefix=ONE

// Each thread has one element, which is no narrower under its mask; with one warp it has several.
// CHECK-LABEL: @one_element
// CHECK-NOT: tessera.versions
// CHECK: tt.return
// ONE-LABEL: @one_element
// ONE: tessera.versions = "full"
tt.func public @one_element(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<256xf16>
  %size = arith.constant 256 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %s = tt.splat %start : i32 -> tensor<256xi32>
  %i = arith.addi %s, %r : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %px = tt.addptr %xs, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %end = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<256xi32>
  tt.store %px, %zero, %mask : tensor<256x!tt.ptr<f16>>
  tt.return
}
