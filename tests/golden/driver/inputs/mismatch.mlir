// Used by golden.driver_sees_mismatch: FileCheck fails in the middle of a pipe's end, and the test must too.
// RUN: tessera opt %s | FileCheck %s
// CHECK: tt.nothing
tt.func @f() {
  tt.return
}
