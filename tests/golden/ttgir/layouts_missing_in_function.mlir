// A module with `ttg.num-warps` in which one function's tensors have no layouts: passes that need layouts and `tessera
// compile` report it.
// RUN: tessera opt %s -tritongpu-coalesce --verify-diagnostics
// RUN: tessera opt %s -allocate-shared-memory --target sm_90a --verify-diagnostics
// RUN: not tessera compile %s --kernel k --target sm_90a --emit ptx 2>&1 | FileCheck %s
// CHECK: layouts_missing_in_function.mlir:[[@LINE+10]]:{{[0-9]+}}: error: 'tt.make_range' makes a tensor without a layout, but the module has 'ttg.num-warps', so that all of its tensors need one; pass '{{.*}}' works on layouts

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @with() {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    tt.return
  }
  tt.func public @k(%p: !tt.ptr<f32>) {
    // expected-error @below {{all of its tensors need one}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %3 = tt.load %2 : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
