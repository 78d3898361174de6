// Recursion cannot be inlined.
// RUN: tessera opt %s --split-input-file -inline --verify-diagnostics

// expected-error @+1 {{function '@self' calls itself}}
tt.func private @self(%x: i32) -> i32 {
  %0 = tt.call @self(%x) : (i32) -> i32
  tt.return %0 : i32
}

// -----

// expected-error @+1 {{function '@ping' calls itself}}
tt.func private @ping(%x: i32) -> i32 {
  %0 = tt.call @pong(%x) : (i32) -> i32
  tt.return %0 : i32
}
tt.func private @pong(%x: i32) -> i32 {
  %0 = tt.call @ping(%x) : (i32) -> i32
  tt.return %0 : i32
}
