// strip-mine: a cosine is about 80 instructions for each element, so that 128 of them in a thread are too much
// straight-line code. 64 exponentials are not.
// RUN: tessera opt %s -strip-mine --target sm_90a | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @cosines
  // CHECK: scf.for
  // CHECK: math.cos {{.*}} : tensor<4096xf32
  tt.func public @cosines(%x: !tt.ptr<f16>, %o: !tt.ptr<f16>) {
    %i = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<16384x!tt.ptr<f16>, #b>
    %xp = tt.addptr %xs, %i : tensor<16384x!tt.ptr<f16>, #b>, tensor<16384xi32, #b>
    %a = tt.load %xp : tensor<16384x!tt.ptr<f16>, #b>
    %f = arith.extf %a : tensor<16384xf16, #b> to tensor<16384xf32, #b>
    %c = math.cos %f : tensor<16384xf32, #b>
    %h = arith.truncf %c : tensor<16384xf32, #b> to tensor<16384xf16, #b>
    %os = tt.splat %o : !tt.ptr<f16> -> tensor<16384x!tt.ptr<f16>, #b>
    %op = tt.addptr %os, %i : tensor<16384x!tt.ptr<f16>, #b>, tensor<16384xi32, #b>
    tt.store %op, %h : tensor<16384x!tt.ptr<f16>, #b>
    tt.return
  }
  // CHECK-LABEL: @exponentials
  // CHECK-NOT: scf.for
  // CHECK: math.exp {{.*}} : tensor<8192xf32
  tt.func public @exponentials(%x: !tt.ptr<f16>, %o: !tt.ptr<f16>) {
    %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<8192x!tt.ptr<f16>, #b>
    %xp = tt.addptr %xs, %i : tensor<8192x!tt.ptr<f16>, #b>, tensor<8192xi32, #b>
    %a = tt.load %xp : tensor<8192x!tt.ptr<f16>, #b>
    %f = arith.extf %a : tensor<8192xf16, #b> to tensor<8192xf32, #b>
    %c = math.exp %f : tensor<8192xf32, #b>
    %h = arith.truncf %c : tensor<8192xf32, #b> to tensor<8192xf16, #b>
    %os = tt.splat %o : !tt.ptr<f16> -> tensor<8192x!tt.ptr<f16>, #b>
    %op = tt.addptr %os, %i : tensor<8192x!tt.ptr<f16>, #b>, tensor<8192xi32, #b>
    tt.store %op, %h : tensor<8192x!tt.ptr<f16>, #b>
    tt.return
  }
}
