// A pass that needs a target says so at the module, or at its first function where no line names the module.
// RUN: not tessera opt %s --split-input-file -tritongpu-pipeline 2>&1 | FileCheck %s
// RUN: not tessera opt %s --split-input-file -tritongpu-pipeline --mlir-print-debuginfo 2>&1 | FileCheck %s
// CHECK-NOT: {{^}}error
// CHECK: required_target.mlir:[[#@LINE+1]]:1: error: tritongpu-pipeline needs a target: the module's 'ttg.target', or that of --target
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @in_a_module() {
    tt.return
  }
}

// -----

// CHECK: required_target.mlir:[[#@LINE+1]]:1: error: tritongpu-pipeline needs a target
tt.func public @alone() {
  tt.return
}
