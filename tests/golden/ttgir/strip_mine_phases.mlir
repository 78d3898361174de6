// strip-mine: a block that is used before and after a reduction, and does not fit into registers in between, is read
// again and computed in strips both times. Blocks that fit stay, and so do those that the kernel writes.
// RUN: tessera opt %s -strip-mine --target sm_90a --remarks=StripMined 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t

// REMARK-COUNT-2: a block of 32768 elements along one dimension is processed in {{.*}} [strip-mine:StripMined]
// REMARK-NOT: StripMined

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @norm
  // CHECK: %[[S:.*]] = scf.for
  // CHECK: tt.load
  // CHECK: arith.mulf
  // CHECK: scf.yield
  // CHECK: %[[R:.*]] = "tt.reduce"(%[[S]])
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK: tt.store
  // CHECK: tt.store %{{.*}}, %[[R]]
  tt.func public @norm(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %s: !tt.ptr<f32>) {
    %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    %a = tt.load %xp : tensor<32768x!tt.ptr<f32>, #b>
    %q = arith.mulf %a, %a : tensor<32768xf32, #b>
    %r = "tt.reduce"(%q) <{axis = 0 : i32}> ({
    ^bb0(%p0: f32, %p1: f32):
      %t = arith.addf %p0, %p1 : f32
      tt.reduce.return %t : f32
    }) : (tensor<32768xf32, #b>) -> f32
    %d = tt.splat %r : f32 -> tensor<32768xf32, #b>
    %y = arith.divf %a, %d : tensor<32768xf32, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %op = tt.addptr %os, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    tt.store %op, %y : tensor<32768x!tt.ptr<f32>, #b>
    tt.store %s, %r : !tt.ptr<f32>
    tt.return
  }
  // 64 registers.
  // CHECK-LABEL: @fits
  // CHECK-NOT: scf.for
  // CHECK-COUNT-1: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.return
  tt.func public @fits(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %a = tt.load %xp : tensor<8192x!tt.ptr<f32>, #b>
    %r = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p0: f32, %p1: f32):
      %t = arith.addf %p0, %p1 : f32
      tt.reduce.return %t : f32
    }) : (tensor<8192xf32, #b>) -> f32
    %d = tt.splat %r : f32 -> tensor<8192xf32, #b>
    %y = arith.divf %a, %d : tensor<8192xf32, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
    %op = tt.addptr %os, %i : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    tt.store %op, %y : tensor<8192x!tt.ptr<f32>, #b>
    tt.return
  }
  // CHECK-LABEL: @in_place
  // CHECK-NOT: scf.for
  // CHECK-COUNT-1: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.return
  tt.func public @in_place(%x: !tt.ptr<f32>) {
    %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    %a = tt.load %xp : tensor<32768x!tt.ptr<f32>, #b>
    %r = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p0: f32, %p1: f32):
      %t = arith.addf %p0, %p1 : f32
      tt.reduce.return %t : f32
    }) : (tensor<32768xf32, #b>) -> f32
    %d = tt.splat %r : f32 -> tensor<32768xf32, #b>
    %y = arith.divf %a, %d : tensor<32768xf32, #b>
    tt.store %xp, %y : tensor<32768x!tt.ptr<f32>, #b>
    tt.return
  }
  // The residual may be updated in place, passed as two arguments: it must not be read again after the store.
  // CHECK-LABEL: @stored_between
  // CHECK-COUNT-1: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.return
  tt.func public @stored_between(%x: !tt.ptr<f32>, %sum: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    %a = tt.load %xp : tensor<32768x!tt.ptr<f32>, #b>
    %b = arith.addf %a, %a : tensor<32768xf32, #b>
    %ss = tt.splat %sum : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %sp = tt.addptr %ss, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    tt.store %sp, %b : tensor<32768x!tt.ptr<f32>, #b>
    %r = "tt.reduce"(%b) <{axis = 0 : i32}> ({
    ^bb0(%p0: f32, %p1: f32):
      %t = arith.addf %p0, %p1 : f32
      tt.reduce.return %t : f32
    }) : (tensor<32768xf32, #b>) -> f32
    %d = tt.splat %r : f32 -> tensor<32768xf32, #b>
    %y = arith.divf %b, %d : tensor<32768xf32, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %op = tt.addptr %os, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    tt.store %op, %y : tensor<32768x!tt.ptr<f32>, #b>
    tt.return
  }
  // The sum of both is needed after a store that does not need it: it would be loaded again behind that.
  // CHECK-LABEL: @stored_before_last_use
  // CHECK-COUNT-1: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.return
  tt.func public @stored_before_last_use(%x: !tt.ptr<f32>, %mean: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    %a = tt.load %xp : tensor<32768x!tt.ptr<f32>, #b>
    %b = arith.addf %a, %a : tensor<32768xf32, #b>
    %r = "tt.reduce"(%b) <{axis = 0 : i32}> ({
    ^bb0(%p0: f32, %p1: f32):
      %t = arith.addf %p0, %p1 : f32
      tt.reduce.return %t : f32
    }) : (tensor<32768xf32, #b>) -> f32
    %d = tt.splat %r : f32 -> tensor<32768xf32, #b>
    %ms = tt.splat %mean : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %mp = tt.addptr %ms, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    tt.store %mp, %d : tensor<32768x!tt.ptr<f32>, #b>
    %y = arith.divf %b, %d : tensor<32768xf32, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #b>
    %op = tt.addptr %os, %i : tensor<32768x!tt.ptr<f32>, #b>, tensor<32768xi32, #b>
    tt.store %op, %y : tensor<32768x!tt.ptr<f32>, #b>
    tt.return
  }
}
