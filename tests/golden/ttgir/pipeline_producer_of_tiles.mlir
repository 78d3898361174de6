// A loop over tiles whose blocks are all copied by TMA: a warp of its own issues the copies of all tiles, and waits for
// buffers that have been read. The others keep dots and stores, and have no barrier of the block.
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 8 --num-stages 3 --emit ttgir | FileCheck %s
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 8 --num-stages 2 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 8 --num-stages 3 --exact-num-warps --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: tessera compile %s --kernel requested --target sm_90a --num-warps 4 --num-stages 2 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=REQUESTED
// RUN: sed 's/ {tt.warp_specialize}//' %s > %t.mlir
// RUN: tessera compile %t.mlir --kernel requested --target sm_90a --num-warps 8 --num-stages 3 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: tessera compile %s --kernel loaded --target sm_90a --num-warps 8 --num-stages 3 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=LOADED

// TWO: no producer warp issues them: 2 stages are fewer than three;
// FOUR: no producer warp issues them: 4 warps are fewer than two warp groups;
// EXACT-NOT: producer warp
// REQUESTED: a producer warp issues the copies of all tiles;
// SMALL: no producer warp issues them: a multiprocessor has shared memory for 2 blocks, which hide each other's latency;
// LOADED: no producer warp issues them: addresses of copies depend on tensors or loads;

// CHECK-LABEL: @tiles
// CHECK: %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
// CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 1
// CHECK: %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
// CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 8
// CHECK: ttg.warp_specialize(
// CHECK-SAME: requestedRegisters = array<i32: 24>
// CHECK: default
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %{{.*}}, %c0_i32
// CHECK: scf.for
// The first buffer to read is 0; the last one that was read is none, which is called 2.
// CHECK-SAME: = %c0_i32, %{{[^ ]*}} = %c2_i32, %{{[^ ]*}} = %c0_i32) -> (i32, i32, i32)
// CHECK: %[[DOTS:.*]]:4 = scf.for %[[K:.*]] = %c0_i32 to %{{.*}} iter_args(%{{[^ ]*}} = %{{[^ ]*}}, %[[READ:[^ ]*]] = %{{[^ ]*}}, %[[LAST:[^ ]*]] = %{{[^ ]*}}, %[[PHASE:[^ ]*]] =
// CHECK: %[[F:.*]] = ttg.memdesc_index %[[FULL]][%[[READ]]]
// CHECK-NEXT: ttng.wait_barrier %[[F]], %[[PHASE]]
// CHECK: ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 1 : i32}
// The iteration before has read its buffers, if this is not the tile's first one.
// CHECK-NEXT: %[[LATER:.*]] = arith.cmpi sgt, %[[K]], %c0_i32
// CHECK-NEXT: %[[E:.*]] = ttg.memdesc_index %[[EMPTY]][%[[LAST]]]
// CHECK-NEXT: ttng.arrive_barrier %[[E]], 1, %[[LATER]] {tessera.each_warp}
// CHECK-NOT: ttng.async_tma_copy_global_to_local
// CHECK: scf.yield %{{[^,]*}}, %{{[^,]*}}, %[[READ]], %{{.*}} : tensor
// CHECK: ttng.warp_group_dot_wait %[[DOTS]]#0 {pendings = 0 : i32}
// CHECK-NEXT: %[[E:.*]] = ttg.memdesc_index %[[EMPTY]][%[[DOTS]]#2]
// CHECK-NEXT: ttng.arrive_barrier %[[E]], 1, %[[ANY]] {tessera.each_warp}
// CHECK: tt.descriptor_store
// CHECK: ttg.warp_yield

// CHECK: partition0(
// CHECK-SAME: num_warps(1)
// CHECK: scf.for
// CHECK: arith.remsi
// CHECK: scf.for {{.*}} iter_args(%[[FILL:[^ ]*]] = %{{[^ ]*}}, %[[FILLED:[^ ]*]] =
// CHECK: %[[E:.*]] = ttg.memdesc_index %{{.*}}[%[[FILL]]]
// CHECK-NEXT: ttng.wait_barrier %[[E]], %[[FILLED]]
// CHECK: ttng.barrier_expect %{{.*}}, 32768
// CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
// CHECK-NOT: ttng.async_tma_copy_global_to_local
// CHECK: ttg.warp_return
// CHECK-COUNT-6: ttng.inval_barrier

!a = !tt.tensordesc<tensor<128x64xf16>>
!b = !tt.tensordesc<tensor<64x64xf16>>
!wide = !tt.tensordesc<tensor<64x128xf16>>
!c = !tt.tensordesc<tensor<128x128xf16>>
tt.func public @tiles(%a: !a, %b: !wide, %c: !c, %rows: i32, %count: i32, %k: i32) {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %start = tt.get_program_id x : i32
  %programs = tt.get_num_programs x : i32
  scf.for %tile = %start to %count step %programs : i32 {
    %row = arith.remsi %tile, %rows : i32
    %column = arith.divsi %tile, %rows : i32
    %m = arith.muli %row, %c128 : i32
    %n = arith.muli %column, %c128 : i32
    %acc = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %zero) -> (tensor<128x128xf32>) : i32 {
      %at = arith.muli %i, %c64 : i32
      %x = tt.descriptor_load %a[%m, %at] : !a -> tensor<128x64xf16>
      %y = tt.descriptor_load %b[%at, %n] : !wide -> tensor<64x128xf16>
      %d = tt.dot %x, %y, %sum : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %out = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xf16>
    tt.descriptor_store %c[%m, %n], %out : !c, tensor<128x128xf16>
  }
  tt.return
}
tt.func public @requested(%a: !a, %b: !b, %c: !a, %count: i32, %k: i32) {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  scf.for %tile = %c0 to %count step %c1 : i32 {
    %m = arith.muli %tile, %c128 : i32
    %acc = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %zero) -> (tensor<128x64xf32>) : i32 {
      %at = arith.muli %i, %c64 : i32
      %x = tt.descriptor_load %a[%m, %at] : !a -> tensor<128x64xf16>
      %y = tt.descriptor_load %b[%at, %c0] : !b -> tensor<64x64xf16>
      %d = tt.dot %x, %y, %sum : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
      scf.yield %d : tensor<128x64xf32>
    }
    %out = arith.truncf %acc : tensor<128x64xf32> to tensor<128x64xf16>
    tt.descriptor_store %c[%m, %c0], %out : !a, tensor<128x64xf16>
  } {tt.warp_specialize}
  tt.return
}
// The iteration loads where its block is.
tt.func public @loaded(%a: !a, %b: !b, %c: !a, %where: !tt.ptr<i32>, %count: i32, %k: i32) {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  scf.for %tile = %c0 to %count step %c1 : i32 {
    %m = arith.muli %tile, %c128 : i32
    %acc = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %zero) -> (tensor<128x64xf32>) : i32 {
      %p = tt.addptr %where, %i : !tt.ptr<i32>, i32
      %at = tt.load %p : !tt.ptr<i32>
      %x = tt.descriptor_load %a[%m, %at] : !a -> tensor<128x64xf16>
      %y = tt.descriptor_load %b[%at, %c0] : !b -> tensor<64x64xf16>
      %d = tt.dot %x, %y, %sum : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
      scf.yield %d : tensor<128x64xf32>
    }
    %out = arith.truncf %acc : tensor<128x64xf32> to tensor<128x64xf16>
    tt.descriptor_store %c[%m, %c0], %out : !a, tensor<128x64xf16>
  }
  tt.return
}
