// insert-barriers: the first barrier after a write to global memory and the last one before it also order global
// memory; the others order shared memory only.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target gfx942 --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // What is loaded in the loop is waited for by nothing but its use; the store comes after the barrier after the loop.
  // CHECK-LABEL: @loads_ahead
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK-NEXT: gpu.barrier {tessera.local}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: gpu.barrier {tessera.local}
  // CHECK-NEXT: ttg.local_store
  // CHECK: gpu.barrier{{$}}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @loads_ahead(%x: tensor<256xf32, #a>, %p: tensor<256x!tt.ptr<f32>, #a>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    ttg.local_store %x, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<256xf32, #a>) : i32 {
      %2 = tt.load %p : tensor<256x!tt.ptr<f32>, #a>
      %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
      ttg.local_store %2, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
      %d = arith.addf %acc, %1 : tensor<256xf32, #a>
      scf.yield %d : tensor<256xf32, #a>
    }
    %last = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
    tt.store %p, %last : tensor<256x!tt.ptr<f32>, #a>
    tt.return
  }

  // A store in the loop: the next iteration's first barrier is after it, the second before it.
  // CHECK-LABEL: @stores
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier{{$}}
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: gpu.barrier{{$}}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.store
  tt.func public @stores(%x: tensor<256xf32, #a>, %p: tensor<256x!tt.ptr<f32>, #a>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %x, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
      %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
      tt.store %p, %1 : tensor<256x!tt.ptr<f32>, #a>
    }
    tt.return
  }

  // A write on one path alone counts.
  // CHECK-LABEL: @on_one_path
  // CHECK: ttg.local_store
  // CHECK: scf.if
  // CHECK: tt.store
  // CHECK: gpu.barrier{{$}}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: gpu.barrier {tessera.local}
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: gpu.barrier {tessera.local}
  // CHECK-NEXT: ttg.local_load
  tt.func public @on_one_path(%x: tensor<256xf32, #a>, %p: tensor<256x!tt.ptr<f32>, #a>, %c: i1) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    ttg.local_store %x, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    scf.if %c {
      tt.store %p, %x : tensor<256x!tt.ptr<f32>, #a>
    }
    %1 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
    ttg.local_store %1, %0 : tensor<256xf32, #a> -> !ttg.memdesc<256xf32, #s, #smem, mutable>
    %2 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem, mutable> -> tensor<256xf32, #a>
    tt.return
  }

  // Every warp loads the scalar, one stores: after a barrier where the pointers, which were loaded, may be one; without where
  // they come from two arguments.
  // CHECK-LABEL: @pointers_from_memory
  // CHECK-COUNT-3: tt.load
  // CHECK-NEXT: gpu.barrier{{$}}
  // CHECK-NEXT: tt.store
  tt.func public @pointers_from_memory(%table: !tt.ptr<!tt.ptr<f32>>, %other: !tt.ptr<!tt.ptr<f32>>) {
    %p = tt.load %table : !tt.ptr<!tt.ptr<f32>>
    %q = tt.load %other : !tt.ptr<!tt.ptr<f32>>
    %x = tt.load %p : !tt.ptr<f32>
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
  // CHECK-LABEL: @two_arguments
  // CHECK: tt.load
  // CHECK-NEXT: tt.store
  tt.func public @two_arguments(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<f32>
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }

  // Every warp loads the same 64 elements, one stores what it has made of them: no barrier. Where all of them make something of it,
  // a sum, there is one.
  // CHECK-LABEL: @changed_in_place
  // CHECK: tt.load
  // CHECK-NOT: gpu.barrier
  // CHECK: tt.store
  tt.func public @changed_in_place(%p: !tt.ptr<f32>, %o: tensor<64xi32, #a>, %m: tensor<64xi1, #a>, %z: tensor<64xf32, #a>) {
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
    %pp = tt.addptr %ps, %o : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
    %x = tt.load %pp : tensor<64x!tt.ptr<f32>, #a>
    %y = arith.mulf %x, %x : tensor<64xf32, #a>
    %w = arith.select %m, %y, %z : tensor<64xi1, #a>, tensor<64xf32, #a>
    tt.store %pp, %w : tensor<64x!tt.ptr<f32>, #a>
    tt.return
  }
  // CHECK-LABEL: @summed_in_place
  // CHECK: tt.load
  // CHECK: gpu.barrier
  // CHECK: tt.store
  tt.func public @summed_in_place(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %o: tensor<64xi32, #a>) {
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
    %pp = tt.addptr %ps, %o : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
    %x = tt.load %pp : tensor<64x!tt.ptr<f32>, #a>
    %y = arith.mulf %x, %x : tensor<64xf32, #a>
    tt.store %pp, %y : tensor<64x!tt.ptr<f32>, #a>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32, #a>) -> f32
    tt.store %q, %s : !tt.ptr<f32>
    tt.return
  }
}
