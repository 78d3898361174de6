// Both sides of a short if are computed, and one is selected; a side that loads is not.
// RUN: tessera compile %s --kernel steps --target gfx942 --num-warps 1 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --kernel loads --target gfx942 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=LOADS
// CHECK-LABEL: {{^}}steps:
// CHECK-NOT: s_cbranch_vcc
// CHECK: s_mul_i32
// CHECK: s_cselect_b32
// CHECK-NOT: s_cbranch_vcc
// CHECK: s_endpgm
// LOADS-LABEL: {{^}}loads:
// LOADS: s_cbranch
// LOADS: s_load_dword
// LOADS: s_endpgm
tt.func public @steps(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (i32) : i32 {
    %bit = arith.andi %v, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %next = scf.if %odd -> (i32) {
      %a = arith.muli %v, %c3 : i32
      %b = arith.addi %a, %c1 : i32
      scf.yield %b : i32
    } else {
      %c = arith.shrsi %v, %c1 : i32
      scf.yield %c : i32
    }
    scf.yield %next : i32
  }
  tt.store %p, %end : !tt.ptr<i32>
  tt.return
}
tt.func public @loads(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %x: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %some = arith.cmpi sgt, %x, %c0 : i32
  %v = scf.if %some -> (i32) {
    %a = tt.load %q : !tt.ptr<i32>
    scf.yield %a : i32
  } else {
    scf.yield %c1 : i32
  }
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}
