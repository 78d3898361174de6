// Lowering of tt.scan across warps: where many lanes have results of their own, totals of neighbouring results lie side
// by side, so that a thread stores and loads those of its four columns at once and lanes use different banks. Along a
// row, whose lanes share the result, one lane stores one total.
// RUN: tessera compile %s --kernel columns --target gfx942 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --kernel row --target gfx942 --emit llir -o - | FileCheck %s --check-prefix=ROW
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @columns(
  // CHECK: store <4 x float> %{{.*}}, ptr addrspace(3)
  // CHECK-NOT: store float %{{.*}}, ptr addrspace(3)
  // CHECK: s.barrier
  // CHECK-COUNT-4: load <4 x float>, ptr addrspace(3)
  // CHECK: ret void
  tt.func public @columns(%base: !tt.ptr<f32>) {
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #columns>
    %x = tt.load %p : tensor<32x32x!tt.ptr<f32>, #columns>
    %y = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<32x32xf32, #columns>) -> tensor<32x32xf32, #columns>
    tt.store %p, %y : tensor<32x32x!tt.ptr<f32>, #columns>
    tt.return
  }
  // ROW-LABEL: @row(
  // ROW: store float %{{.*}}, ptr addrspace(3)
  // ROW: s.barrier
  // ROW: load <4 x float>, ptr addrspace(3)
  // ROW-NOT: load <4 x float>, ptr addrspace(3)
  // ROW: ret void
  tt.func public @row(%base: !tt.ptr<f32>) {
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #row>
    %x = tt.load %p : tensor<256x!tt.ptr<f32>, #row>
    %y = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<256xf32, #row>) -> tensor<256xf32, #row>
    tt.store %p, %y : tensor<256x!tt.ptr<f32>, #row>
    tt.return
  }
}
