// Used by golden.run_reports_mismatch: FileCheck fails at the end of a pipe, and so must the test.
// RUN: tessera opt %s | FileCheck %s
// CHECK: tt.nothing
tt.func @f() {
  tt.return
}
