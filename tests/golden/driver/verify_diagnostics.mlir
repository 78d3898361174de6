// --verify-diagnostics: every way to write where a diagnostic is expected, from the parser, the verifier and a pass.
// RUN: tessera opt %s --split-input-file --verify-diagnostics -inline
// RUN: not tessera opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s

tt.func @parser(%a: i32) {
  // expected-error @+1 {{no_such_op}}
  tt.no_such_op %a : i32
  tt.return
}

// -----

tt.func @verifier(%a: tensor<4xi32>) {
  // expected-error @below {{'tt.reshape' op}}
  %0 = tt.reshape %a : tensor<4xi32> -> tensor<8xi32>
  %1 = tt.reshape %a : tensor<4xi32> -> tensor<2xi32>
  // expected-error @above {{'tt.reshape' op}}
  %2 = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<4xi32> // expected-error-re {{has {{[0-9]+}} values but}}
  tt.return
}

// -----

// CHECK: verify_diagnostics.mlir:[[#@LINE+1]]: error: expected error "calls itself" was not produced
// expected-error @+1 {{calls itself}}
tt.func private @pass() {
  tt.call @pass() : () -> ()
  tt.return
}
