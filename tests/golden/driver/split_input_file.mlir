// --split-input-file: each part is parsed, run and printed by itself. A part with an error makes the command fail; the
// others are still printed.
// RUN: not tessera opt %s --split-input-file -symbol-dce 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file %t

// CHECK: tt.func public @first
// ERR: split_input_file.mlir:[[#@LINE+8]]:{{[0-9]+}}: error:
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
