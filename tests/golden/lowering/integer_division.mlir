// Integer division is defined for all operands (a zero divisor included). The guards are left out where the divisor is
// a constant or neither operand can be negative.
// RUN: tessera compile %s --kernel constants --target gfx942 --emit llir | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: tessera compile %s --kernel constants --target sm_90a --emit llir | FileCheck %s --check-prefixes=CHECK,NVIDIA

// CHECK-LABEL: @constants
// CHECK-NOT: select
// CHECK-NOT: llvm.abs
// CHECK: [[X:%[0-9]+]] = {{load i32|call i32 asm}}
// CHECK-DAG: sdiv i32 [[X]], 7
// CHECK-DAG: srem i32 [[X]], 10
// CHECK-DAG: sub i32 0, [[X]]
// CHECK-NOT: select
// CHECK-NOT: llvm.abs
// CHECK: ret void

// A thread's number by a positive one: the plain quotient of magnitudes.
// CHECK-LABEL: @positive
// CHECK-NOT: llvm.abs
// CHECK-NOT: sub {{.*}}i{{16|32}} 0
// CHECK: udiv i{{16|32}}
// CHECK-NOT: sub {{.*}}i{{16|32}} 0
// CHECK: ret void

// Of unknown ones too, with the quotient's sign put right; on AMD by arithmetic that no divisor makes undefined.
// CHECK-LABEL: @unknown
// CHECK-NOT: sdiv
// AMD-NOT: {{umax|udiv}}
// AMD: llvm.amdgcn.rcp
// AMD: icmp eq i32 {{.*}}, 0
// AMD-NOT: udiv
// NVIDIA: udiv i32
// CHECK-NOT: sdiv
// CHECK: ret void

// There a remainder by zero is not chosen by a comparison. On NVIDIA it is all ones, as ptxas has it.
// CHECK-LABEL: @remainder
// AMD-NOT: {{select|urem|srem}}
// AMD: call i32 @llvm.umin.i32
// AMD: call i32 @llvm.umin.i32
// AMD-NOT: {{select|urem|srem}}
// NVIDIA: urem i32
// NVIDIA: select i1 {{.*}}, i32 -1, i32
// CHECK: ret void

// Narrow ones as words.
// CHECK-LABEL: @narrow
// CHECK: sdiv i32
// CHECK: ret void
module {
  tt.func public @constants(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %x = tt.load %p : !tt.ptr<i32>
    %c7 = arith.constant 7 : i32
    %c10 = arith.constant 10 : i32
    %m1 = arith.constant -1 : i32
    %a = arith.divsi %x, %c7 : i32
    %b = arith.remsi %x, %c10 : i32
    %c = arith.divsi %x, %m1 : i32
    %d = arith.xori %a, %b : i32
    %e = arith.xori %d, %c : i32
    tt.store %q, %e : !tt.ptr<i32>
    tt.return
  }
  tt.func public @positive(%q: !tt.ptr<i32>, %n: i16) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %w = arith.extui %n : i16 to i32
    %y = tt.splat %w : i32 -> tensor<128xi32>
    %a = arith.divsi %r, %y : tensor<128xi32>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %qp = tt.addptr %qs, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    tt.store %qp, %a : tensor<128x!tt.ptr<i32>>
    tt.return
  }
  tt.func public @unknown(%q: !tt.ptr<i32>, %x: i32, %y: i32) {
    %a = arith.divsi %x, %y : i32
    tt.store %q, %a : !tt.ptr<i32>
    tt.return
  }
  tt.func public @remainder(%q: !tt.ptr<i32>, %x: i32, %y: i32) {
    %a = arith.remsi %x, %y : i32
    tt.store %q, %a : !tt.ptr<i32>
    tt.return
  }
  tt.func public @narrow(%q: !tt.ptr<i16>, %x: i16, %y: i16) {
    %a = arith.divsi %x, %y : i16
    tt.store %q, %a : !tt.ptr<i16>
    tt.return
  }
}
