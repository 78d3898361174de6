// Part of a swizzled buffer, at an offset that is a constant: rows beyond those that the swizzle depends on are an
// immediate offset from the first ones, as they are where the whole buffer is read.
// RUN: tessera compile %s --target gfx942 --emit amdgcn | FileCheck %s
// CHECK-LABEL: part:
// CHECK: ds_read_b128 v[{{.*}}], [[AT:v[0-9]+]]{{$}}
// CHECK: ds_read_b128 v[{{.*}}], [[AT]] offset:8192
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 2], warpsPerCTA = [2, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @part(%o: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %c64 = arith.constant dense<16> : tensor<128x1xi32, #rows>
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<128x1xi32, #rows>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x16xi32, #rows>
    %rs = arith.muli %r1, %c64 : tensor<128x1xi32, #rows>
    %ra = tt.broadcast %rs : tensor<128x1xi32, #rows> -> tensor<128x16xi32, #rows>
    %ca = tt.broadcast %c1 : tensor<1x16xi32, #rows> -> tensor<128x16xi32, #rows>
    %at = arith.addi %ra, %ca : tensor<128x16xi32, #rows>
    %os = tt.splat %o : !tt.ptr<f16> -> tensor<128x16x!tt.ptr<f16>, #rows>
    %p = tt.addptr %os, %at : tensor<128x16x!tt.ptr<f16>, #rows>, tensor<128x16xi32, #rows>
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %s = ttg.memdesc_subslice %m[0, 16] : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x16xf16, #shared, #smem, mutable, 128x64>
    %v = ttg.local_load %s : !ttg.memdesc<128x16xf16, #shared, #smem, mutable, 128x64> -> tensor<128x16xf16, #rows>
    tt.store %p, %v : tensor<128x16x!tt.ptr<f16>, #rows>
    tt.return
  }
}
