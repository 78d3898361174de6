// The remainder of a division by zero is all ones on NVIDIA, as ptxas has it for every width, and the dividend on AMD.
// RUN: mkdir -p %t && cp %s %t/k.ttir && \
// RUN:   echo '{"kernel": "k", "ttir": "k.ttir", "grid": [1], "num_warps": 1, "args": [{"name": "x", "scalar": 7, "type": "i32"}, {"name": "y", "scalar": 0, "type": "i32"}]}' > %t/launch.json
// RUN: tessera run %t/launch.json --device emulator:sm_90a | sort -u | FileCheck %s --check-prefix=NVIDIA
// RUN: tessera run %t/launch.json --device emulator:gfx942 | sort -u | FileCheck %s --check-prefix=AMD

// NVIDIA: idx () i16: -1
// NVIDIA: idx () i32: -1
// NVIDIA: idx () quotient: -1
// AMD: idx () i16: 7
// AMD: idx () i32: 7
// AMD: idx () quotient: -1
module {
  tt.func public @k(%x: i32, %y: i32) {
    %a = arith.trunci %x : i32 to i16
    %b = arith.trunci %y : i32 to i16
    %r16 = arith.remsi %a, %b : i16
    %r32 = arith.remsi %x, %y : i32
    %q = arith.divsi %x, %y : i32
    tt.print " i16: " {hex = false, isSigned = array<i32: 1>} : %r16 : i16
    tt.print " i32: " {hex = false, isSigned = array<i32: 1>} : %r32 : i32
    tt.print " quotient: " {hex = false, isSigned = array<i32: 1>} : %q : i32
    tt.return
  }
}
