// As layouts_missing_in_function.mlir, where the tensor is in the type of a function without a body.
// RUN: tessera opt %s -tritongpu-coalesce --verify-diagnostics
// RUN: not tessera compile %s --target sm_90a --emit ptx 2>&1 | FileCheck %s
// CHECK: error: 'tt.func' makes a tensor without a layout, but the module has 'ttg.num-warps'

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // expected-error @below {{all of its tensors need one}}
  tt.func private @declared(tensor<4xf32>) -> i32
  tt.func public @k() {
    tt.return
  }
}
