// insert-barriers: elements that several warps load and one of them stores again. A barrier orders the store after all
// loads if the other warps use what they load.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_90a | FileCheck %s
// RUN: sed s/cuda:90/hip:gfx1100/ %s | tessera opt - -allocate-shared-memory -insert-barriers --target gfx1100 | FileCheck %s
#small = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // 64 elements, 128 threads; both loads are ahead of the one barrier. All threads add up what they have.
  // CHECK-LABEL: @in_place
  // CHECK: tt.load
  // CHECK: tt.load
  // CHECK: gpu.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.return
  tt.func public @in_place(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %sums: !tt.ptr<f32>) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #small>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #small>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>, #small>, tensor<64xi32, #small>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #small>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<f32>, #small>, tensor<64xi32, #small>
    %5 = tt.load %2 : tensor<64x!tt.ptr<f32>, #small>
    %6 = tt.load %4 : tensor<64x!tt.ptr<f32>, #small>
    tt.store %2, %6 : tensor<64x!tt.ptr<f32>, #small>
    tt.store %4, %5 : tensor<64x!tt.ptr<f32>, #small>
    %both = arith.addf %5, %6 : tensor<64xf32, #small>
    %sum = "tt.reduce"(%both) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32, #small>) -> f32
    tt.store %sums, %sum : !tt.ptr<f32>
    tt.return
  }

  // Only stored again: the thread that stores an element loads it itself.
  // CHECK-LABEL: @only_stored
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.return
  tt.func public @only_stored(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #small>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #small>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>, #small>, tensor<64xi32, #small>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #small>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<f32>, #small>, tensor<64xi32, #small>
    %5 = tt.load %2 : tensor<64x!tt.ptr<f32>, #small>
    %6 = tt.load %4 : tensor<64x!tt.ptr<f32>, #small>
    tt.store %2, %6 : tensor<64x!tt.ptr<f32>, #small>
    tt.store %4, %5 : tensor<64x!tt.ptr<f32>, #small>
    tt.return
  }

  // Stored elsewhere, or with an element for every thread, there is nothing to keep apart.
  // CHECK-LABEL: @no_conflict
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.return
  tt.func public @no_conflict(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %r: tensor<128x!tt.ptr<f32>, #small>) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #small>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #small>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>, #small>, tensor<64xi32, #small>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #small>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<f32>, #small>, tensor<64xi32, #small>
    %5 = tt.load %2 : tensor<64x!tt.ptr<f32>, #small>
    tt.store %4, %5 : tensor<64x!tt.ptr<f32>, #small>
    %6 = tt.load %r : tensor<128x!tt.ptr<f32>, #small>
    tt.store %r, %6 : tensor<128x!tt.ptr<f32>, #small>
    tt.return
  }

  // A scalar is loaded by every warp. In a loop the next iteration's load is not ordered.
  // CHECK-LABEL: @counter
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK: gpu.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.atomic_rmw
  tt.func public @counter(%p: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      %a = tt.addptr %p, %i : !tt.ptr<i32>, i32
      %0 = tt.load %a : !tt.ptr<i32>
      %1 = arith.addi %0, %c1 : i32
      tt.store %a, %1 : !tt.ptr<i32>
      %many = arith.cmpi sgt, %0, %c1 : i32
      scf.if %many {
        %2 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %t : (!tt.ptr<i32>, i32, i1) -> i32
      }
    }
    %2 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %t : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
