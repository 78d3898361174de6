// --split-input-file: each part is parsed, run and printed by itself; a part at fault fails the command but not the others.
// RUN: not tessera opt %s --split-input-file -symbol-dce 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file %t

// CHECK: tt.func public @first
// ERR: split.mlir:[[#@LINE+8]]:{{[0-9]+}}: error:
tt.func public @first() {
  tt.return
}

// -----

tt.func public @second() {
  tt.nothing
  tt.return
}

// -----

// CHECK-NOT: @unused
// CHECK: tt.func public @third
tt.func private @unused() {
  tt.return
}
tt.func public @third() {
  tt.return
}
