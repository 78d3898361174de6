// An error of a pass names the place in the text, also where IR is printed that shows the locations of the text alone.
// RUN: not tessera opt %s -canonicalize -triton-loop-unroll 2>&1 | FileCheck %s
// RUN: not tessera opt %s -canonicalize -triton-loop-unroll --mlir-print-debuginfo 2>&1 | FileCheck %s
// RUN: not tessera opt %s -canonicalize -triton-loop-unroll --print-ir-after=canonicalize 2>&1 | FileCheck %s
// RUN: not tessera opt %s -canonicalize -triton-loop-unroll --bisect-limit=2 --mlir-print-debuginfo 2>&1 | FileCheck %s
// RUN: not tessera compile %s --target sm_90a --emit ttgir 2>&1 | FileCheck %s
// RUN: not tessera compile %s --target sm_90a --emit ptx --print-ir-after=canonicalize 2>&1 | FileCheck %s
// RUN: tessera opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATIONS
// CHECK-NOT: {{^}}error
// CHECK: locations.mlir:[[#@LINE+10]]:3: error: tt.loop_unroll_factor = 5000 is too much
// CHECK-NEXT: note: in pass 'triton-loop-unroll'
// CHECK-NOT: error:
// LOCATIONS: scf.for
// LOCATIONS-NOT: .mlir":
tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %value = arith.constant 1.0 : f32
  // The loop at fault.
  scf.for %i = %zero to %n step %one : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    tt.store %q, %value : !tt.ptr<f32>
  } {tt.loop_unroll_factor = 5000 : i32}
  tt.return
}
