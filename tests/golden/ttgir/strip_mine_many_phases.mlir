// A block that is normalised several times is read again for each phase that does not fit into registers. Not if it is
// normalised 40 times: each phase would repeat nearly all before it.
// RUN: kernel() { sed -n 's|^// HEAD||p' %s; for i in $(seq $1); do sed -n 's|^// STEP||p' %s | sed "s/@/$i/g; s/&/$((i + 1))/g"; done; sed -n 's|^// TAIL||p' %s | sed "s/@/$(($1 + 1))/g"; }; \
// RUN:   kernel 3 > %t.few.mlir && kernel 40 > %t.many.mlir
// RUN: tessera opt %t.few.mlir -strip-mine --target sm_90a | FileCheck %s --check-prefix=FEW
// RUN: (ulimit -t 20; tessera opt %t.many.mlir -strip-mine --target sm_90a) | FileCheck %s --check-prefix=MANY
// FEW-COUNT-4: tt.load
// FEW-NOT: tt.load
// MANY: tt.load
// MANY-NOT: tt.load
// MANY: tt.store
// HEAD#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// HEADmodule attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// HEAD  tt.func public @norms(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
// HEAD    %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #b>
// HEAD    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
// HEAD    %xp = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
// HEAD    %v1 = tt.load %xp : tensor<32768x!tt.ptr<f32>, #b>
// STEP    %r@ = "tt.reduce"(%v@) <{axis = 0 : i32}> ({
// STEP    ^bb0(%p0: f32, %p1: f32):
// STEP      %t = arith.addf %p0, %p1 : f32
// STEP      tt.reduce.return %t : f32
// STEP    }) : (tensor<32768xf32, #b>) -> f32
// STEP    %d@ = tt.splat %r@ : f32 -> tensor<32768xf32, #b>
// STEP    %v& = arith.divf %v@, %d@ : tensor<32768xf32, #b>
// TAIL    %os = tt.splat %o : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
// TAIL    %op = tt.addptr %os, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
// TAIL    tt.store %op, %v@ : tensor<32768x!tt.ptr<f32>, #b>
// TAIL    tt.return
// TAIL  }
// TAIL}
