// Recursion cannot be inlined, nor calls that multiply with every level.
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

// -----

// Each level has eight calls of the next one.
// expected-error @+1 {{function '@level0' has more than 131072 operations once its calls are inlined}}
tt.func private @level0(%p: !tt.ptr<i32>) {
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level1(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}
tt.func private @level1(%p: !tt.ptr<i32>) {
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level2(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}
tt.func private @level2(%p: !tt.ptr<i32>) {
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level3(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}
tt.func private @level3(%p: !tt.ptr<i32>) {
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level4(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}
tt.func private @level4(%p: !tt.ptr<i32>) {
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.call @level5(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}
tt.func private @level5(%p: !tt.ptr<i32>) {
  %v = tt.load %p : !tt.ptr<i32>
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}
