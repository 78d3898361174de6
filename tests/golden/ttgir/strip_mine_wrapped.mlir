// strip-mine: pointers that the kernel states to be contiguous, and which are all different by that, but wrap inside
// the block. In place, a later strip would load what an earlier one stored.
// RUN: tessera opt %s -strip-mine | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @in_place
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @in_place(%x: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %ns = tt.splat %n : i32 -> tensor<65536xi32, #b>
  %w = arith.remsi %i, %ns {tt.contiguity = dense<65536> : tensor<1xi32>} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %w : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %d = math.exp %a : tensor<65536xf32, #b>
  tt.store %xp, %d : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
// CHECK-LABEL: @all_different
// CHECK: scf.for
tt.func public @all_different(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32, #b>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>, #b>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>, #b>, tensor<65536xi32, #b>
  %a = tt.load %xp : tensor<65536x!tt.ptr<f32>, #b>
  %d = math.exp %a : tensor<65536xf32, #b>
  tt.store %xp, %d : tensor<65536x!tt.ptr<f32>, #b>
  tt.return
}
}
