// Many loops, one after the other in a branch: whether a barrier is superfluous is known soon after it, so that the time
// grows with the length of the function (tenths of a second), not with its square (half a minute).
// RUN: (sed -n 's|^// HEAD||p' %s; for i in $(seq 5000); do sed -n 's|^// STEP||p' %s; done; sed -n 's|^// TAIL||p' %s) > %t.mlir
// RUN: (ulimit -t 5; tessera opt %t.mlir -insert-barriers --target sm_90a -o %t.out) && grep -c gpu.barrier %t.out | FileCheck %s
// Each loop has one before its store and one before its load.
// CHECK: 10000
// HEAD#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// HEAD#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// HEADmodule attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// HEAD  tt.func public @loops(%n: i32, %x: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>, %c: i1) {
// HEAD    %c0 = arith.constant 0 : i32
// HEAD    %c1 = arith.constant 1 : i32
// HEAD    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128xf32, #s, #ttg.shared_memory, mutable>
// HEAD    scf.if %c {
// STEP      scf.for %i = %c0 to %n step %c1 : i32 {
// STEP        ttg.local_store %x, %m : tensor<128xf32, #b> -> !ttg.memdesc<128xf32, #s, #ttg.shared_memory, mutable>
// STEP        %y = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #ttg.shared_memory, mutable> -> tensor<128xf32, #b>
// STEP        tt.store %p, %y : tensor<128x!tt.ptr<f32>, #b>
// STEP      }
// TAIL    }
// TAIL    tt.return
// TAIL  }
// TAIL}
