// tt.print has Triton's text: indices as wide as the largest one, and the operand's number if there are several;
// hexadecimal numbers with all digits of the type, of floats the bits. Each thread prints a scalar.
// RUN: mkdir -p %t && cp %s %t/print.ttir && \
// RUN:   echo '{"kernel": "print", "ttir": "print.ttir", "grid": [1], "args": [{"name": "n", "scalar": 7, "type": "i32"}]}' > %t/launch.json
// RUN: tessera run %t/launch.json --device emulator:sm_90a | sort | uniq -c | FileCheck %s
// RUN: tessera run %t/launch.json --device emulator:gfx1100 | sort | uniq -c | FileCheck %s
// RUN: tessera run %t/launch.json --device interpreter | FileCheck %s --check-prefix=ONCE

// CHECK-DAG: 128 pid (0, 0, 0) here
// CHECK-DAG: 1 pid (0, 0, 0) idx (0,  0): (operand 0) 0
// CHECK-DAG: 1 pid (0, 0, 0) idx (0,  9): (operand 0) 9
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 10): (operand 0) 10
// CHECK-DAG: 128 pid (0, 0, 0) idx (): (operand 1) 7
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 10) x: (operand 0) 0x000a
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 10) x: (operand 1) 0x0a
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 10) x: (operand 2) 0x000000000000000a
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 10) x: (operand 3) 0x4900
// CHECK-DAG: 1 pid (0, 0, 0) idx (0, 15) x: (operand 4) 0xf1
// CHECK-DAG: 1 pid (0, 0, 0) idx (0,  9) x: (operand 5) 0x1

// ONCE-DAG: pid (0, 0, 0) here
// ONCE-DAG: pid (0, 0, 0) idx (0,  9): (operand 0) 9
// ONCE-DAG: pid (0, 0, 0) idx (): (operand 1) 7
// ONCE-DAG: pid (0, 0, 0) idx (0, 10) x: (operand 0) 0x000a
// ONCE-DAG: pid (0, 0, 0) idx (0, 10) x: (operand 1) 0x0a
// ONCE-DAG: pid (0, 0, 0) idx (0, 10) x: (operand 2) 0x000000000000000a
// ONCE-DAG: pid (0, 0, 0) idx (0, 10) x: (operand 3) 0x4900
// ONCE-DAG: pid (0, 0, 0) idx (0, 15) x: (operand 4) 0xf1
// ONCE-DAG: pid (0, 0, 0) idx (0,  9) x: (operand 5) 0x1
module {
  tt.func public @print(%n: i32) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %e = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    tt.print ": " {hex = false, isSigned = array<i32: 1, 1>} : %e, %n : tensor<1x16xi32>, i32
    tt.print " here" {hex = false, isSigned = array<i32>}
    %zero = arith.constant dense<0> : tensor<1x16xi8>
    %half = arith.trunci %e : tensor<1x16xi32> to tensor<1x16xi16>
    %byte = arith.trunci %e : tensor<1x16xi32> to tensor<1x16xi8>
    %negative = arith.subi %zero, %byte : tensor<1x16xi8>
    %bit = arith.trunci %e : tensor<1x16xi32> to tensor<1x16xi1>
    %long = arith.extsi %e : tensor<1x16xi32> to tensor<1x16xi64>
    %float = arith.sitofp %e : tensor<1x16xi32> to tensor<1x16xf16>
    tt.print " x: " {hex = true, isSigned = array<i32: 1, 0, 1, 0, 1, 0>} : %half, %byte, %long, %float, %negative, %bit : tensor<1x16xi16>, tensor<1x16xi8>, tensor<1x16xi64>, tensor<1x16xf16>, tensor<1x16xi8>, tensor<1x16xi1>
    tt.return
  }
}
