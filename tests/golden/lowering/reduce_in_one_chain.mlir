// A thread that has two rows combines the values of each one after the other, for the registers: a chain has one partial
// result. Sums of narrow floats stay trees, which round less often.
// RUN: tessera compile %s --kernel wide --target sm_90a --emit ptx | FileCheck %s --check-prefix=WIDE
// RUN: tessera compile %s --kernel narrow --target sm_90a --emit ptx | FileCheck %s --check-prefix=NARROW
#rows = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#out = #ttg.slice<{dim = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // WIDE: ld.global.v4.b32 {%[[A:r[0-9]+]], %[[B:r[0-9]+]], %[[C:r[0-9]+]], %[[D:r[0-9]+]]}
  // WIDE: add.f32 %[[AB:r[0-9]+]], %[[A]], %[[B]]
  // WIDE-NEXT: add.f32 %[[ABC:r[0-9]+]], %[[C]], %[[AB]]
  // WIDE-NEXT: add.f32 %{{r[0-9]+}}, %[[D]], %[[ABC]]
  tt.func public @wide(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #out>
    %c4 = arith.constant dense<4> : tensor<64x1xi32, #rows>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #out> -> tensor<64x1xi32, #rows>
    %m = arith.muli %e, %c4 : tensor<64x1xi32, #rows>
    %k = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %f = tt.expand_dims %k {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x4xi32, #rows>
    %mb = tt.broadcast %m : tensor<64x1xi32, #rows> -> tensor<64x4xi32, #rows>
    %fb = tt.broadcast %f : tensor<1x4xi32, #rows> -> tensor<64x4xi32, #rows>
    %i = arith.addi %mb, %fb : tensor<64x4xi32, #rows>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x4x!tt.ptr<f32>, #rows>
    %a = tt.addptr %s, %i : tensor<64x4x!tt.ptr<f32>, #rows>, tensor<64x4xi32, #rows>
    %x = tt.load %a : tensor<64x4x!tt.ptr<f32>, #rows>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %c = arith.addf %l, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x4xf32, #rows>) -> tensor<64xf32, #out>
    %t = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #out>
    %b = tt.addptr %t, %r : tensor<64x!tt.ptr<f32>, #out>, tensor<64xi32, #out>
    tt.store %b, %sum : tensor<64x!tt.ptr<f32>, #out>
    tt.return
  }
  // NARROW: add.{{(rn.)?}}f16 %[[AB:rs[0-9]+]], %[[A:rs[0-9]+]], %[[B:rs[0-9]+]]
  // NARROW-NEXT: add.{{(rn.)?}}f16 %[[CD:rs[0-9]+]], %[[C:rs[0-9]+]], %[[D:rs[0-9]+]]
  // NARROW-NEXT: add.{{(rn.)?}}f16 %{{rs[0-9]+}}, %[[AB]], %[[CD]]
  tt.func public @narrow(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #out>
    %c4 = arith.constant dense<4> : tensor<64x1xi32, #rows>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #out> -> tensor<64x1xi32, #rows>
    %m = arith.muli %e, %c4 : tensor<64x1xi32, #rows>
    %k = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %f = tt.expand_dims %k {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x4xi32, #rows>
    %mb = tt.broadcast %m : tensor<64x1xi32, #rows> -> tensor<64x4xi32, #rows>
    %fb = tt.broadcast %f : tensor<1x4xi32, #rows> -> tensor<64x4xi32, #rows>
    %i = arith.addi %mb, %fb : tensor<64x4xi32, #rows>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x4x!tt.ptr<f16>, #rows>
    %a = tt.addptr %s, %i : tensor<64x4x!tt.ptr<f16>, #rows>, tensor<64x4xi32, #rows>
    %x = tt.load %a : tensor<64x4x!tt.ptr<f16>, #rows>
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f16, %q: f16):
      %c = arith.addf %l, %q : f16
      tt.reduce.return %c : f16
    }) : (tensor<64x4xf16, #rows>) -> tensor<64xf16, #out>
    %t = tt.splat %o : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #out>
    %b = tt.addptr %t, %r : tensor<64x!tt.ptr<f16>, #out>, tensor<64xi32, #out>
    tt.store %b, %sum : tensor<64x!tt.ptr<f16>, #out>
    tt.return
  }
}
