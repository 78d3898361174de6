// strip-mine: 16-bit values that are extended count with their own width, since the wide arithmetic is done element by
// element.
// RUN: tessera opt %s -strip-mine --target sm_90a | FileCheck %s

// CHECK-NOT: scf.for
// CHECK: tt.return
#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @widened(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>, %r: !tt.ptr<bf16>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>, #b>
    %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>, #b>
    %rs = tt.splat %r : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
    %pi = tt.addptr %ps, %i : tensor<8192x!tt.ptr<bf16>, #b>, tensor<8192xi32, #b>
    %qi = tt.addptr %qs, %i : tensor<8192x!tt.ptr<bf16>, #b>, tensor<8192xi32, #b>
    %ri = tt.addptr %rs, %i : tensor<8192x!tt.ptr<bf16>, #b>, tensor<8192xi32, #b>
    %oi = tt.addptr %os, %i : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %0 = tt.load %pi : tensor<8192x!tt.ptr<bf16>, #b>
    %1 = tt.load %qi : tensor<8192x!tt.ptr<bf16>, #b>
    %2 = tt.load %ri : tensor<8192x!tt.ptr<bf16>, #b>
    %3 = arith.extf %0 : tensor<8192xbf16, #b> to tensor<8192xf32, #b>
    %4 = arith.extf %1 : tensor<8192xbf16, #b> to tensor<8192xf32, #b>
    %5 = arith.extf %2 : tensor<8192xbf16, #b> to tensor<8192xf32, #b>
    %6 = arith.mulf %3, %4 : tensor<8192xf32, #b>
    %7 = arith.addf %6, %5 : tensor<8192xf32, #b>
    tt.store %oi, %7 : tensor<8192x!tt.ptr<f32>, #b>
    tt.return
  }
}
