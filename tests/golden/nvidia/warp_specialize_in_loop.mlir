// Warp specialisation inside a loop: a word of shared memory of its own says which partition the waiting warps run
// next; captured values are read before they are written again.
// RUN: tessera opt %s -tritongpu-allocate-warp-groups -allocate-shared-memory -insert-barriers --target sm_90a | FileCheck %s --check-prefix=MEMORY
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s

// MEMORY: tt.func {{.*}}allocation.offset = [[WORD:[0-9]+]]
// MEMORY: scf.for
// MEMORY: "tt.reduce"
// MEMORY: }) {allocation.offset = [[SUM:[0-9]+]] : i32}
// MEMORY-NOT: allocation.offset = [[WORD]]
// MEMORY: ttg.warp_specialize
// MEMORY-NOT: allocation.offset = [[WORD]]
// MEMORY: tt.return

// The loop of the warps that wait.
// CHECK: ret;
// CHECK: barrier.sync 1, 256;
// CHECK-NEXT: ld.shared.b32 {{%r[0-9]+}}, [global_smem+32];
// CHECK-COUNT-8: st.global
// CHECK-NOT: st.global
// CHECK: barrier.sync 1, 256;
// CHECK-NEXT: bra.uni
#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%o: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %i = %zero to %n step %one : i32 {
      %x = tt.splat %i : i32 -> tensor<128xi32, #d>
      %s = "tt.reduce"(%x) ({
      ^bb0(%a: i32, %b: i32):
        %c = arith.addi %a, %b : i32
        tt.reduce.return %c : i32
      }) {axis = 0 : i32} : (tensor<128xi32, #d>) -> i32
      ttg.warp_specialize(%o, %s)
      default {
        ttg.warp_yield
      }
      partition0(%p: !tt.ptr<i32>, %v: i32) num_warps(4) {
        %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #d>
        %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #d>
        %pr = tt.addptr %ps, %r : tensor<1024x!tt.ptr<i32>, #d>, tensor<1024xi32, #d>
        %vs = tt.splat %v : i32 -> tensor<1024xi32, #d>
        tt.store %pr, %vs : tensor<1024x!tt.ptr<i32>, #d>
        ttg.warp_return
      } : (!tt.ptr<i32>, i32) -> ()
    }
    tt.return
  }
}
