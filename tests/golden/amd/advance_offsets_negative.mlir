// A loop that starts at negative indices, which its mask drops: where the mask holds, the index shares no bit with the
// buffer's middle, and LLVM writes their sum as an or. The carried offset starts as a sum: the first iterations' index
// has that bit.
// RUN: tessera compile %s --target gfx942 --num-warps 1 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit llir -o - | FileCheck %s
// CHECK-LABEL: @from_below(
// CHECK: for.preheader:
// CHECK-NOT: or i32
// CHECK: %[[START:.*]] = freeze i32
// CHECK-NOT: or i32
// CHECK: for:
// CHECK: phi i32 {{.*}}%[[START]]
// CHECK: raw.ptr.buffer.store
tt.func public @from_below(%q: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %lo: i32) {
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0> : tensor<32xi8>
  %two = arith.constant dense<2> : tensor<32xi32>
  %zero = arith.constant dense<0> : tensor<32xi32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %qs = tt.splat %q : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  %os = tt.splat %o : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  scf.for %k0 = %lo to %n step %c32 : i32 {
    %ks = tt.splat %k0 : i32 -> tensor<32xi32>
    %k = arith.addi %ks, %r : tensor<32xi32>
    %above = arith.cmpi sge, %k, %zero : tensor<32xi32>
    %below = arith.cmpi slt, %k, %ns : tensor<32xi32>
    %m = arith.andi %above, %below : tensor<32xi1>
    %h = arith.divsi %k, %two : tensor<32xi32>
    %qp = tt.addptr %qs, %h : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
    %v = tt.load %qp, %m, %none : tensor<32x!tt.ptr<i8>>
    %op = tt.addptr %os, %k : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
    tt.store %op, %v, %m : tensor<32x!tt.ptr<i8>>
  }
  tt.return
}
