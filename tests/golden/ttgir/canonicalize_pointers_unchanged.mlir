// tritonamdgpu-canonicalize-pointers: pointers that remain as they are.
// RUN: tessera opt %s -tritonamdgpu-canonicalize-pointers --verify-each | FileCheck %s
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Without the promise, of two buffers, with elements of another size, or out of memory: as it was.
  // CHECK-LABEL: @others
  // CHECK-NOT: arith.trunci
  // CHECK: tt.return
  tt.func public @others(%p: !tt.ptr<f32>, %q: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %pp: !tt.ptr<!tt.ptr<f32>> {tt.pointer_range = 32 : i32}, %c: i1, %i: i64, %x: f32) {
    %0 = tt.addptr %p, %i : !tt.ptr<f32>, i64
    tt.store %0, %x : !tt.ptr<f32>
    %1 = arith.select %c, %p, %q : !tt.ptr<f32>
    %2 = tt.addptr %1, %i : !tt.ptr<f32>, i64
    tt.store %2, %x : !tt.ptr<f32>
    %3 = tt.load %pp : !tt.ptr<!tt.ptr<f32>>
    %4 = tt.addptr %3, %i : !tt.ptr<f32>, i64
    tt.store %4, %x : !tt.ptr<f32>
    tt.return
  }
  // CHECK-LABEL: @resized
  // CHECK: %[[A:.*]] = tt.addptr %arg0, %arg1 : !tt.ptr<f32>, i64
  // CHECK: %[[B:.*]] = tt.bitcast %[[A]]
  // CHECK: tt.addptr %[[B]], %arg1 : !tt.ptr<i8>, i64
  tt.func public @resized(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %i: i64, %x: i8) {
    %0 = tt.addptr %p, %i : !tt.ptr<f32>, i64
    %1 = tt.bitcast %0 : !tt.ptr<f32> -> !tt.ptr<i8>
    %2 = tt.addptr %1, %i : !tt.ptr<i8>, i64
    tt.store %2, %x : !tt.ptr<i8>
    tt.return
  }
  // A loop whose pointer comes back from another buffer.
  // CHECK-LABEL: @swapped
  // CHECK: scf.for {{.*}} -> (!tt.ptr<f32>, !tt.ptr<f32>)
  tt.func public @swapped(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %n: i32, %x: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
      %1 = tt.addptr %a, %k : !tt.ptr<f32>, i32
      tt.store %1, %x : !tt.ptr<f32>
      scf.yield %b, %1 : !tt.ptr<f32>, !tt.ptr<f32>
    }
    tt.return
  }
  // A block's argument.
  // CHECK-LABEL: @blocks
  // CHECK: ^bb1(%{{.*}}: !tt.ptr<f32>)
  // CHECK: tt.addptr %{{.*}} : !tt.ptr<f32>, i64
  tt.func public @blocks(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32>, %c: i1, %i: i64, %x: f32) {
    cf.cond_br %c, ^bb1(%p : !tt.ptr<f32>), ^bb1(%o : !tt.ptr<f32>)
  ^bb1(%a: !tt.ptr<f32>):
    %0 = arith.select %c, %a, %p : !tt.ptr<f32>
    %1 = tt.addptr %0, %i : !tt.ptr<f32>, i64
    tt.store %1, %x : !tt.ptr<f32>
    tt.return
  }
}
