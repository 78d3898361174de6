// strip-mine: blocks that do not fit in a thread's registers are processed in strips. What must not be split:
// strip_mine_whole_blocks.mlir.
// RUN: tessera opt %s -strip-mine -canonicalize -loop-invariant-code-motion -cse --remarks=StripMined 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t

// REMARK: a block of 65536 elements along one dimension is processed in 16 strips of 4096: 64 registers of a thread instead of 1024 [strip-mine:StripMined]
// REMARK: a block of 256 elements along one dimension is processed in {{.*}}StripMined]
// REMARK: a block of 65536 elements along one dimension is processed in {{.*}}StripMined]
// REMARK: a block of 65536 elements along one dimension is processed in {{.*}}StripMined]
// REMARK: a block of 256 elements along one dimension is processed in {{.*}}StripMined]
// REMARK-NOT: StripMined

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#m = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #m}>
#cols = #ttg.slice<{dim = 0, parent = #m}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @add
// CHECK-DAG: %[[R:.*]] = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #
// CHECK-DAG: %[[N:.*]] = tt.splat %arg3 : i32 -> tensor<4096xi32
// CHECK: scf.for %[[S:.*]] = %c0_i32 to %c65536_i32 step %c4096_i32
// CHECK: %[[O:.*]] = tt.splat %[[S]]
// CHECK: %[[I:.*]] = arith.addi %[[R]], %[[O]]
// CHECK: arith.cmpi slt, %[[I]], %[[N]]
// CHECK-COUNT-2: tt.load
// CHECK: arith.addf
// CHECK: tt.store
tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %ns = tt.splat %n : i32 -> tensor<65536xi32, #b>
  %mask = arith.cmpi slt, %i, %ns : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp, %mask : tensor<65536x!tt.ptr<f32>, #b>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %yp = tt.addptr %ys, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %c = tt.load %yp, %mask : tensor<65536x!tt.ptr<f32>, #b>
  %d = arith.addf %a, %c : tensor<65536xf32, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  tt.store %op, %d, %mask : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// Rows that are reduced by themselves: strips of rows, with the sums.
// CHECK-LABEL: @rows
// CHECK: scf.for
// CHECK: %[[V:.*]] = tt.load {{.*}} : tensor<[[K:.*]]x1024x!tt.ptr<f32>, #
// CHECK: "tt.reduce"(%[[V]])
// CHECK: (tensor<[[K]]x1024xf32, #{{.*}}>) -> tensor<[[K]]xf32, #ttg.slice
// CHECK: tt.store {{.*}} : tensor<[[K]]x!tt.ptr<f32>
// CHECK: tt.store {{.*}} : tensor<[[K]]x1024x!tt.ptr<f32>
tt.func public @rows(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %s: !tt.ptr<f32>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #rows>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<256xi32, #rows> -> tensor<256x1xi32, #m>
  %width = arith.constant dense<1024> : tensor<256x1xi32, #m>
  %ro = arith.muli %r2, %width : tensor<256x1xi32, #m>
  %rb = tt.broadcast %ro : tensor<256x1xi32, #m> -> tensor<256x1024xi32, #m>
  %k = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #cols>
  %k2 = tt.expand_dims %k {axis = 0 : i32} : tensor<1024xi32, #cols> -> tensor<1x1024xi32, #m>
  %kb = tt.broadcast %k2 : tensor<1x1024xi32, #m> -> tensor<256x1024xi32, #m>
  %i = arith.addi %rb, %kb : tensor<256x1024xi32, #m>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x1024x!tt.ptr<f32>, #m>
  %xp = tt.addptr %xs, %i : tensor<256x1024x!tt.ptr<f32>, #m>, tensor<256x1024xi32, #m>
  %v = tt.load %xp : tensor<256x1024x!tt.ptr<f32>, #m>
  %sum = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, %q : f32
    tt.reduce.return %t : f32
  }) : (tensor<256x1024xf32, #m>) -> tensor<256xf32, #rows>
  %ss = tt.splat %s : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #rows>
  %sp = tt.addptr %ss, %r : tensor<256x!tt.ptr<f32>, #rows>, tensor<256xi32, #rows>
  tt.store %sp, %sum : tensor<256x!tt.ptr<f32>, #rows>
  %s2 = tt.expand_dims %sum {axis = 1 : i32} : tensor<256xf32, #rows> -> tensor<256x1xf32, #m>
  %sb = tt.broadcast %s2 : tensor<256x1xf32, #m> -> tensor<256x1024xf32, #m>
  %w = arith.divf %v, %sb : tensor<256x1024xf32, #m>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x1024x!tt.ptr<f32>, #m>
  %op = tt.addptr %os, %i : tensor<256x1024x!tt.ptr<f32>, #m>, tensor<256x1024xi32, #m>
  tt.store %op, %w : tensor<256x1024x!tt.ptr<f32>, #m>
  tt.return
}
// In place, through pointers that are all different.
// CHECK-LABEL: @in_place
// CHECK: scf.for
// CHECK: tt.store
tt.func public @in_place(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %d = math.exp %a : tensor<65536xf32, #b>
  tt.store %xp, %d : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// A relaxed atomic orders nothing.
// CHECK-LABEL: @relaxed
// CHECK: scf.for
// CHECK: tt.atomic_rmw
tt.func public @relaxed(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %true = arith.constant dense<true> : tensor<65536xi1, #b>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %op, %a, %true : (tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xf32, #b>, tensor<65536xi1, #b>) -> tensor<65536xf32, #b>
  tt.return
}
// The bias row, which the tile uses as a whole and which is stored itself, does not hang on two groups.
// CHECK-LABEL: @row_of_tile
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>
// CHECK: scf.for
// CHECK: tt.load {{.*}} : tensor<{{[0-9]+}}x1024x!tt.ptr<f32>
// CHECK: tt.store {{.*}} : tensor<{{[0-9]+}}x1024x!tt.ptr<f32>
// CHECK: }
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>
tt.func public @row_of_tile(%x: !tt.ptr<f32>, %q: !tt.ptr<f32>, %o: !tt.ptr<f32>, %p: !tt.ptr<f32>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #rows>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<256xi32, #rows> -> tensor<256x1xi32, #m>
  %width = arith.constant dense<1024> : tensor<256x1xi32, #m>
  %ro = arith.muli %r2, %width : tensor<256x1xi32, #m>
  %rb = tt.broadcast %ro : tensor<256x1xi32, #m> -> tensor<256x1024xi32, #m>
  %k = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #cols>
  %k2 = tt.expand_dims %k {axis = 0 : i32} : tensor<1024xi32, #cols> -> tensor<1x1024xi32, #m>
  %kb = tt.broadcast %k2 : tensor<1x1024xi32, #m> -> tensor<256x1024xi32, #m>
  %i = arith.addi %rb, %kb : tensor<256x1024xi32, #m>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #cols>
  %xp = tt.addptr %xs, %k : tensor<1024x!tt.ptr<f32>, #cols>, tensor<1024xi32, #cols>
  %b = tt.load %xp : tensor<1024x!tt.ptr<f32>, #cols>
  %e = math.exp2 %b : tensor<1024xf32, #cols>
  %e2 = tt.expand_dims %e {axis = 0 : i32} : tensor<1024xf32, #cols> -> tensor<1x1024xf32, #m>
  %eb = tt.broadcast %e2 : tensor<1x1024xf32, #m> -> tensor<256x1024xf32, #m>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<256x1024x!tt.ptr<f32>, #m>
  %qp = tt.addptr %qs, %i : tensor<256x1024x!tt.ptr<f32>, #m>, tensor<256x1024xi32, #m>
  %a = tt.load %qp : tensor<256x1024x!tt.ptr<f32>, #m>
  %s = arith.addf %a, %eb : tensor<256x1024xf32, #m>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x1024x!tt.ptr<f32>, #m>
  %op = tt.addptr %os, %i : tensor<256x1024x!tt.ptr<f32>, #m>, tensor<256x1024xi32, #m>
  tt.store %op, %s : tensor<256x1024x!tt.ptr<f32>, #m>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #cols>
  %pp = tt.addptr %ps, %k : tensor<1024x!tt.ptr<f32>, #cols>, tensor<1024xi32, #cols>
  tt.store %pp, %e : tensor<1024x!tt.ptr<f32>, #cols>
  tt.return
}
}
