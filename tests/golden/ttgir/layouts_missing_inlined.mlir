// A diagnostic at an operation of an inlined function whose location has only the call site.
// RUN: not tessera opt %s -tritongpu-coalesce 2>&1 | FileCheck %s
// CHECK: caller.py:7:3: error: 'arith.constant' makes a tensor without a layout
tt.func @f() {
  %c = arith.constant dense<0> : tensor<16xi32> loc(callsite(unknown at "caller.py":7:3))
  tt.return
}
