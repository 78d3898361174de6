// Negative immediate offsets of memory accesses: ptxas accepts them as `+-4` only.
// RUN: tessera compile %s --target sm_90a --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit cubin -o %t
// REQUIRES: ptxas

// CHECK: ld.global.b32 %{{.*}}, [%rd{{[0-9]+}}+-64];
// CHECK: st.global.b32 [%rd{{[0-9]+}}+-32], %
module {
  tt.func public @before(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %a = arith.constant -16 : i32
    %b = arith.constant -8 : i32
    %0 = tt.addptr %p, %a : !tt.ptr<i32>, i32
    %1 = tt.load %0 : !tt.ptr<i32>
    %2 = tt.addptr %q, %b : !tt.ptr<i32>, i32
    tt.store %2, %1 : !tt.ptr<i32>
    tt.return
  }
}
