// tritonamdgpu-canonicalize-pointers: pointers into buffers of less than 2 GiB become the base and a 32-bit offset,
// through loops and branches; other pointers are unchanged.
// RUN: tessera opt %s -tritonamdgpu-canonicalize-pointers --verify-each | FileCheck %s
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Rows and columns are added up as numbers, wide ones in their lower halves.
  // CHECK-LABEL: @rows
  // CHECK: %[[ROW:.*]] = arith.trunci %{{.*}} : tensor<32x1xi64, {{.*}}> to tensor<32x1xi32,
  // CHECK: %[[ROWS:.*]] = tt.broadcast %[[ROW]]
  // CHECK: %[[O:.*]] = arith.addi %[[ROWS]], %{{.*}} : tensor<32x32xi32,
  // CHECK: %[[BASE:.*]] = tt.splat %arg0
  // CHECK: %[[Q:.*]] = tt.addptr %[[BASE]], %[[O]]
  // CHECK: tt.load %[[Q]]
  tt.func public @rows(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %row: tensor<32x1xi64, #b>, %column: tensor<32x32xi32, #b>) {
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %row : tensor<32x1x!tt.ptr<f32>, #b>, tensor<32x1xi64, #b>
    %2 = tt.broadcast %1 : tensor<32x1x!tt.ptr<f32>, #b> -> tensor<32x32x!tt.ptr<f32>, #b>
    %3 = tt.addptr %2, %column : tensor<32x32x!tt.ptr<f32>, #b>, tensor<32x32xi32, #b>
    %4 = tt.load %3 : tensor<32x32x!tt.ptr<f32>, #b>
    tt.store %3, %4 : tensor<32x32x!tt.ptr<f32>, #b>
    tt.return
  }

  // A loop carries the offset; what uses the pointer after it gets it made from the offset.
  // CHECK-LABEL: @carried
  // CHECK: %[[R:[^:]*]]:2 = scf.for {{.*}} iter_args(%[[I:[^ ]*]] = {{.*}}) -> (tensor<256xi32,
  // CHECK: %[[Q:.*]] = tt.addptr %{{.*}}, %[[I]]
  // CHECK: tt.load %[[Q]]
  // CHECK: %[[N:.*]] = arith.addi %[[I]], %
  // CHECK: scf.yield %[[N]],
  // CHECK: tt.addptr %{{.*}}, %[[R]]#0
  // CHECK: tt.store
  tt.func public @carried(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %i: tensor<256xi32, #a>, %n: i32, %x: tensor<256xf32, #a>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #a>
    %1 = tt.addptr %0, %i : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>
    %step = tt.splat %n : i32 -> tensor<256xi32, #a>
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %1, %s = %x) -> (tensor<256x!tt.ptr<f32>, #a>, tensor<256xf32, #a>) : i32 {
      %2 = tt.load %q : tensor<256x!tt.ptr<f32>, #a>
      %3 = arith.addf %s, %2 : tensor<256xf32, #a>
      %4 = tt.addptr %q, %step : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>
      scf.yield %4, %3 : tensor<256x!tt.ptr<f32>, #a>, tensor<256xf32, #a>
    }
    tt.store %r#0, %r#1 : tensor<256x!tt.ptr<f32>, #a>
    tt.return
  }

  // Both sides of a branch, and of a choice, point into one buffer: their offsets do.
  // CHECK-LABEL: @branches
  // CHECK: %[[R:.*]] = scf.if {{.*}} -> (i32)
  // CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[R]], %{{.*}} : i32
  // CHECK: %[[Q:.*]] = tt.addptr %arg0, %[[S]]
  // CHECK: tt.store %[[Q]]
  tt.func public @branches(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %c: i1, %i: i32, %j: i64, %x: f32) {
    %0 = scf.if %c -> (!tt.ptr<f32>) {
      %1 = tt.addptr %p, %i : !tt.ptr<f32>, i32
      scf.yield %1 : !tt.ptr<f32>
    } else {
      scf.yield %p : !tt.ptr<f32>
    }
    %2 = tt.addptr %p, %j : !tt.ptr<f32>, i64
    %3 = arith.select %c, %0, %2 : !tt.ptr<f32>
    tt.store %3, %x : !tt.ptr<f32>
    tt.return
  }

  // Offsets count the elements of the cast buffer.
  // CHECK-LABEL: @cast
  // CHECK: %[[B:.*]] = tt.bitcast %arg0 : !tt.ptr<i1> -> !tt.ptr<i8>
  // CHECK: tt.addptr %[[B]], %arg1 : !tt.ptr<i8>, i32
  tt.func public @cast(%p: !tt.ptr<i1> {tt.pointer_range = 32 : i32}, %i: i32, %x: i8) {
    %0 = tt.bitcast %p : !tt.ptr<i1> -> !tt.ptr<i8>
    %j = arith.extsi %i : i32 to i64
    %1 = tt.addptr %0, %j : !tt.ptr<i8>, i64
    tt.store %1, %x : !tt.ptr<i8>
    tt.return
  }

  // Offsets that are not negative are marked, whatever is truncated of them; of others nothing is known: what is
  // accessed may lie before the pointer.
  // CHECK-LABEL: @signs
  // CHECK: %[[A:.*]] = tt.addptr %{{.*}}, %{{.*}} {tessera.non_negative} :
  // CHECK: tt.load %[[A]]
  // CHECK: %[[W:.*]] = arith.trunci
  // CHECK: %[[B:.*]] = tt.addptr %{{.*}}, %[[W]] {tessera.non_negative} :
  // CHECK: tt.load %[[B]]
  // CHECK: %[[C:.*]] = tt.addptr %{{[^{]*}} : tensor
  // CHECK: tt.load %[[C]]
  // CHECK: %[[D:.*]] = tt.addptr %{{[^{]*}} : tensor
  // CHECK: tt.load %[[D]]
  tt.func public @signs(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %n: i32, %o: !tt.ptr<f32>) {
    %c1024 = arith.constant 1024 : i32
    %back = arith.constant dense<-16> : tensor<256xi32, #a>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c1024 : i32
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #a>
    %s = tt.splat %first : i32 -> tensor<256xi32, #a>
    %i = arith.addi %s, %range : tensor<256xi32, #a>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #a>
    %0 = tt.addptr %base, %i : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>
    %1 = tt.load %0 : tensor<256x!tt.ptr<f32>, #a>
    %wide = arith.extui %i : tensor<256xi32, #a> to tensor<256xi64, #a>
    %square = arith.muli %wide, %wide : tensor<256xi64, #a>
    %2 = tt.addptr %base, %square : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi64, #a>
    %3 = tt.load %2 : tensor<256x!tt.ptr<f32>, #a>
    %4 = tt.addptr %0, %back : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>
    %5 = tt.load %4 : tensor<256x!tt.ptr<f32>, #a>
    %stride = tt.splat %n : i32 -> tensor<256xi32, #a>
    %rows = arith.muli %range, %stride : tensor<256xi32, #a>
    %6 = tt.addptr %base, %rows : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>
    %7 = tt.load %6 : tensor<256x!tt.ptr<f32>, #a>
    %8 = arith.addf %1, %3 : tensor<256xf32, #a>
    %9 = arith.addf %5, %7 : tensor<256xf32, #a>
    %10 = arith.addf %8, %9 : tensor<256xf32, #a>
    %out = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #a>
    tt.store %out, %10 : tensor<256x!tt.ptr<f32>, #a>
    tt.return
  }
}
