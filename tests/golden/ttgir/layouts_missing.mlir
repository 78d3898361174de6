// A pass that needs layouts, run on TTIR, reports the first operation that makes a tensor without one.
// RUN: tessera opt %s -tritongpu-coalesce --verify-diagnostics
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-diagnostics
// RUN: tessera opt %s -allocate-shared-memory --target sm_90a --verify-diagnostics
// RUN: not tessera opt %s -tritongpu-coalesce 2>&1 | FileCheck %s
// CHECK: layouts_missing.mlir:[[@LINE+5]]:{{[0-9]+}}: error: 'tt.make_range' makes a tensor without a layout
// CHECK: note: in pass 'tritongpu-coalesce' (step 1 of 1)

tt.func public @k(%p: !tt.ptr<f32>) {
  // expected-error @below {{run convert-triton-to-tritongpu first}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %3 = tt.load %2 : tensor<128x!tt.ptr<f32>>
  tt.return
}
