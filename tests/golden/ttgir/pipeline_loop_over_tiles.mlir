// In a loop over tiles the last iterations of a tile issue the first copies of the next one, if dots stay in flight;
// else these copies come after the last iteration, before the tile's stores. The loop carries the producer's values,
// the indices of the buffers and the tile's position.
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=TILES
// RUN: tessera compile %s --kernel tiles --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=SM80
// RUN: tessera compile %s --kernel pointers --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=POINTERS

// The first tile may not exist: then its division is by 1, and nothing is copied. Nor does the last tile have a next
// one: then the addresses are those of the tile itself.
// TILES-LABEL: @tiles
// TILES: %[[FIRST:.*]] = arith.cmpi slt, %[[START:.*]], %[[TILES:.*]] : i32
// TILES: %[[BY:.*]] = arith.select %[[FIRST]], %{{.*}}, %{{.*}} : i32
// TILES: arith.remsi %[[START]], %[[BY]]
// TILES-COUNT-2: ttng.async_tma_copy_global_to_local %arg0
// TILES: scf.for %[[TILE:.*]] = %[[START]] to %[[TILES]]
// All but the last iterations copy for their own tile, what surely exists.
// TILES:   %[[FIRST:.*]]:5 = scf.for %[[I:.*]] = %c0_i32 to
// TILES:     ttng.wait_barrier
// TILES:     ttng.warp_group_dot
// TILES:     %[[AHEAD:.*]] = arith.addi %[[I]], %c128_i32
// TILES:     ttng.async_tma_copy_global_to_local %arg0[%{{.*}}, %[[AHEAD]]] {{.*}}, %true :
// TILES:     scf.yield
// TILES:   %[[EXISTS:.*]] = arith.cmpi slt, %[[TILE]],
// TILES:   %[[NEXT:.*]]:2 = scf.if %[[EXISTS]] -> (i32, i32)
// TILES:     %[[ROW:.*]] = arith.remsi
// TILES:     %[[M:.*]] = arith.muli %[[ROW]], %c64_i32
// TILES:     scf.yield %[[M]],
// TILES:   } else {
// If the tile has fewer iterations than are copied ahead, the next tile's other copies: none, mostly.
// TILES:   %[[FILL:.*]] = arith.addi %[[FIRST]]#1, %{{.*}} : i32
// TILES:   %[[MISSING:.*]]:2 = scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c1_i32 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c0_i32)
// TILES:     ttng.async_tma_copy_global_to_local %arg0[%[[NEXT]]#0,
// TILES:     scf.yield
// TILES:   %[[LAST:.*]]:5 = scf.for %{{.*}} = %[[FIRST]]#4 to %{{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, {{.*}}, %[[AT:.*]] = %[[MISSING]]#1)
// TILES:     ttng.wait_barrier
// TILES:     ttng.warp_group_dot
// TILES:     %[[SOME:.*]] = arith.cmpi slt, %[[AT]],
// TILES:     %[[COPIES:.*]] = arith.andi %[[SOME]], %[[EXISTS]]
// TILES:     ttng.async_tma_copy_global_to_local %arg0[%[[NEXT]]#0, %[[AT]]] {{.*}}, %[[COPIES]] :
// TILES:     scf.yield
// TILES:   ttng.warp_group_dot_wait %[[LAST]]#0 {pendings = 0 : i32}
// TILES:   tt.store
// TILES:   scf.yield
// TILES: ttng.inval_barrier

// cp.async: an empty commit group counts as a copy.
// SM80-LABEL: @tiles
// SM80-COUNT-2: ttg.async_commit_group
// SM80: scf.for
// SM80:   scf.for
// SM80:     ttg.async_wait {{.*}}{num = 1 : i32}
// SM80:   }
// SM80-COUNT-2: ttg.async_commit_group
// SM80:   tt.store
// SM80: ttg.async_wait {num = 0 : i32}
tt.func public @tiles(%a: !tt.tensordesc<tensor<64x64xf16>>, %b: !tt.tensordesc<tensor<64x64xf16>>, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %rows: i32, %count: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %programs = arith.constant 132 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %start = tt.get_program_id x : i32
  %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  scf.for %tile = %start to %count step %programs : i32 {
    %row = arith.remsi %tile, %rows : i32
    %column = arith.divsi %tile, %rows : i32
    %m = arith.muli %row, %c64 : i32
    %n = arith.muli %column, %c64 : i32
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
      %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.descriptor_load %b[%i, %n] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %d = tt.dot %x, %y, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %sum = "tt.reduce"(%acc) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      tt.reduce.return %r : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %at = tt.addptr %c, %m : !tt.ptr<f32>, i32
    %to = tt.splat %at : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %ptrs = tt.addptr %to, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %ptrs, %sum : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// Pointers that the loop over K advances are carried from tile to tile, too.
// POINTERS-LABEL: @pointers
// POINTERS-COUNT-2: ttg.async_commit_group
// POINTERS: scf.for {{.*}} -> (tensor<64x64x!tt.ptr<f16>
// POINTERS:   %[[FIRST:.*]]:5 = scf.for
// POINTERS:     ttng.warp_group_dot
// POINTERS:     ttg.async_copy_global_to_local %{{[^ ]*}}, %{{[^ ]*}} :
// POINTERS:     ttg.async_commit_group
// POINTERS:   }
// POINTERS:   %[[NEXT:.*]]:2 = scf.if
// POINTERS:     tt.addptr
// POINTERS:   %[[MISSING:.*]]:3 = scf.for {{.*}}= %[[NEXT]]#{{[01]}},
// POINTERS:     ttg.async_commit_group
// POINTERS:   }
// POINTERS:   scf.for %{{.*}} = %[[FIRST]]#4 to {{.*}}iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[MISSING]]#0,
// POINTERS:     ttng.warp_group_dot
// POINTERS:     ttg.async_copy_global_to_local %{{.*}} mask
// POINTERS:     ttg.async_commit_group
// POINTERS:   }
// POINTERS-NOT: ttg.async_commit_group
// POINTERS:   tt.store
tt.func public @pointers(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %count: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %programs = arith.constant 132 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %step = arith.constant dense<64> : tensor<64x64xi32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %start = tt.get_program_id x : i32
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %out = tt.splat %c : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  scf.for %tile = %start to %count step %programs : i32 {
    %m = arith.muli %tile, %c64 : i32
    %ms = tt.splat %m : i32 -> tensor<64x64xi32>
    %offset = arith.addi %offsets, %ms : tensor<64x64xi32>
    %first = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %acc:2 = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero, %p = %first) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>)  : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
      %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %q = tt.addptr %p, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      scf.yield %d, %q : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
    }
    %v = arith.truncf %acc#0 : tensor<64x64xf32> to tensor<64x64xf16>
    %ptrs = tt.addptr %out, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %ptrs, %v : tensor<64x64x!tt.ptr<f16>>
  }
  tt.return
}
