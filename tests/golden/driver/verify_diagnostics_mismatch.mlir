// --verify-diagnostics fails on a diagnostic that was expected but not produced, and on one that was produced but not
// expected.
// RUN: not tessera opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s

tt.func @f(%a: tensor<4xi32>) {
  // expected-warning @+1 {{'tt.reshape' op}}
  %0 = tt.reshape %a : tensor<4xi32> -> tensor<8xi32>
  tt.return
}
// CHECK: mismatch.mlir:[[#@LINE-3]]: error: unexpected error: 'tt.reshape' op
// CHECK-NEXT: mismatch.mlir:[[#@LINE-5]]: error: expected warning "'tt.reshape' op" was not produced
// CHECK-NOT: error

// -----

// expected-remark @unknown {{not a word}}
tt.func @g() {
  tt.return
}
// CHECK: mismatch.mlir:[[#@LINE-4]]: error: expected remark "not a word" was not produced
