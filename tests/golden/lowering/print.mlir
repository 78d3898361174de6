// tt.print has Triton's text: indices as wide as the largest one, and the operand's number if there are several. Each
// thread prints a scalar.
// RUN: mkdir -p %t && cp %s %t/print.ttir && \
// RUN:   echo '{"kernel": "print", "ttir": "print.ttir", "grid": [1], "args": [{"name": "n", "scalar": 7, "type": "i32"}]}' > %t/launch.json
// RUN: tessera run %t/launch.json --device emulator:sm_90a | sort | uniq -c | FileCheck %s
// RUN: tessera run %t/launch.json --device emulator:gfx1100 | sort | uniq -c | FileCheck %s

// CHECK-DAG: 128 pid (0, 0, 0) here
// CHECK-DAG: 1 pid (0, 0, 0) idx (0,  0): (operand 0) 0
// CHECK-DAG: 1 pid (0, 0, 0) idx (0,  9): (operand 0) 9
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 10): (operand 0) 10
// CHECK-DAG: 128 pid (0, 0, 0) idx (): (operand 1) 7
module {
  tt.func public @print(%n: i32) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %e = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    tt.print ": " {hex = false, isSigned = array<i32: 1, 1>} : %e, %n : tensor<1x16xi32>, i32
    tt.print " here" {hex = false, isSigned = array<i32>}
    tt.return
  }
}
