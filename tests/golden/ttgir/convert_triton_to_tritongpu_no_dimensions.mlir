// Tensors without dimensions are valid TTIR; no layout fits one, and the conversion to TTGIR reports the first.
// RUN: tessera opt %s --split-input-file -canonicalize | FileCheck %s --check-prefix=TTIR
// RUN: tessera opt %s --split-input-file -convert-triton-to-tritongpu --verify-diagnostics
// RUN: tessera opt %s --split-input-file -test-print-alignment | FileCheck %s --check-prefix=TTIR
// TTIR-COUNT-3: tensor<f32>

// expected-error @below {{'tt.func' has type tensor<f32>, and a tensor without dimensions has no layout; use a scalar}}
tt.func public @argument(%a: tensor<f32>) -> tensor<8xf32> {
  %0 = tt.splat %a : tensor<f32> -> tensor<8xf32>
  tt.return %0 : tensor<8xf32>
}

// -----

tt.func public @result(%p: !tt.ptr<f32>, %a: f32) {
  // expected-error @below {{'tt.splat' has type tensor<!tt.ptr<f32>>, and a tensor without dimensions has no layout}}
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<!tt.ptr<f32>>
  %1 = tt.splat %a : f32 -> tensor<f32>
  tt.store %0, %1 : tensor<!tt.ptr<f32>>
  tt.return
}
