// Scans within a wave: each step takes the last lane of the lower half of a group, which is DPP's on CDNA and DPP or
// permlane16 on RDNA, so nothing passes shared memory's pipeline.
// RUN: tessera compile %s --target gfx942 --emit llir -o - | FileCheck %s --implicit-check-not=ds.bpermute --implicit-check-not=ds.swizzle
// RUN: tessera compile %s --target gfx942 --emit amdgcn -o - | FileCheck %s --check-prefix=ISA --implicit-check-not=ds_bpermute
#row = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Steps of 1, 2, 4 (two moves, to two banks of each row), 8, 16, 32 lanes, and the lane before.
  // CHECK-LABEL: @row(
  // CHECK: update.dpp.i32(i32 poison, i32 %{{.*}}, i32 {{[0-9]+}}, i32 15, i32 15, i1 true)
  // CHECK: update.dpp.i32(i32 %{{.*}}, i32 %{{.*}}, i32 {{[0-9]+}}, i32 15, i32 {{[0-9]+}}, i1 false)
  // CHECK: update.dpp.i32(i32 poison, i32 %{{.*}}, i32 322, i32 15, i32 15, i1 true)
  // CHECK: update.dpp.i32(i32 poison, i32 %{{.*}}, i32 323, i32 15, i32 15, i1 true)
  // CHECK: update.dpp.i32(i32 poison, i32 %{{.*}}, i32 312, i32 15, i32 15, i1 true)
  // CHECK: ret void
  // ISA: row_bcast:15
  // ISA: row_bcast:31
  // ISA: wave_shr:1
  tt.func public @row(%base: !tt.ptr<i32>) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #row>
    %s = tt.splat %base : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #row>
    %p = tt.addptr %s, %r : tensor<128x!tt.ptr<i32>, #row>, tensor<128xi32, #row>
    %x = tt.load %p : tensor<128x!tt.ptr<i32>, #row>
    %y = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }) : (tensor<128xi32, #row>) -> tensor<128xi32, #row>
    tt.store %p, %y : tensor<128x!tt.ptr<i32>, #row>
    tt.return
  }
}
