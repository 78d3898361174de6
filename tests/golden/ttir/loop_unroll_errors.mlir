// triton-loop-unroll: factors that are no integer, or that make more operations than can be compiled, are errors. One
// above the known number of iterations leaves the loop as it is.
// RUN: tessera opt %s --split-input-file --verify-diagnostics=only-expected -triton-loop-unroll

tt.func @too_much(%n: i32, %p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{tt.loop_unroll_factor = 1000000 is too much for a loop of 3 operations; at most 2730}}
  scf.for %i = %n to %n step %n : i32 {
    tt.store %p, %v : !tt.ptr<f32>
  } {tt.loop_unroll_factor = 1000000 : i32}
  tt.return
}

// -----

tt.func @text(%n: i32, %p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{tt.loop_unroll_factor must be an integer, not "4"}}
  scf.for %i = %n to %n step %n : i32 {
    tt.store %p, %v : !tt.ptr<f32>
  } {tt.loop_unroll_factor = "4"}
  tt.return
}

// -----

tt.func @few_iterations(%p: !tt.ptr<f32>, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    tt.store %p, %v : !tt.ptr<f32>
  } {tt.loop_unroll_factor = 1000000 : i32}
  tt.return
}
