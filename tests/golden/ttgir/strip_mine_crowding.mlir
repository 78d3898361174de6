// strip-mine: the threads of a block of many warps fit, but leave room for no other block: strips of which each loads
// enough for the block to hide the latency. Blocks that load less stay whole.
// RUN: tessera opt %s -strip-mine --target sm_90a --remarks=StripMined 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t

// REMARK: a block of 16384 elements along one dimension is processed in 4 strips of 4096: 24 registers of a thread instead of 96 [strip-mine:StripMined]
// REMARK-NOT: StripMined

#many = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [16], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @many_warps
  // CHECK: scf.for
  // CHECK-COUNT-2: tt.load {{.*}} : tensor<4096x!tt.ptr<f32>
  // CHECK: tt.store {{.*}} : tensor<4096x!tt.ptr<f32>
  tt.func public @many_warps(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #many>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %xp = tt.addptr %xs, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    %a = tt.load %xp : tensor<16384x!tt.ptr<f32>, #many>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %yp = tt.addptr %ys, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    %b = tt.load %yp : tensor<16384x!tt.ptr<f32>, #many>
    %l = math.log %b : tensor<16384xf32, #many>
    %d = arith.subf %l, %a : tensor<16384xf32, #many>
    %e = arith.mulf %d, %b : tensor<16384xf32, #many>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %op = tt.addptr %os, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    tt.store %op, %e : tensor<16384x!tt.ptr<f32>, #many>
    tt.return
  }
  // Bytes: 64 registers, but 16 KiB in all.
  // CHECK-LABEL: @fewer_bytes
  // CHECK-NOT: scf.for
  // CHECK: tt.store {{.*}} : tensor<16384x!tt.ptr<i8>
  tt.func public @fewer_bytes(%x: !tt.ptr<i8>, %y: !tt.ptr<i8>, %o: !tt.ptr<i8>) {
    %i = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #many>
    %xs = tt.splat %x : !tt.ptr<i8> -> tensor<16384x!tt.ptr<i8>, #many>
    %xp = tt.addptr %xs, %i : tensor<16384x!tt.ptr<i8>, #many>, tensor<16384xi32, #many>
    %a = tt.load %xp : tensor<16384x!tt.ptr<i8>, #many>
    %f = arith.sitofp %a : tensor<16384xi8, #many> to tensor<16384xf32, #many>
    %g = math.log %f : tensor<16384xf32, #many>
    %h = arith.addf %f, %g : tensor<16384xf32, #many>
    %r = arith.fptosi %h : tensor<16384xf32, #many> to tensor<16384xi8, #many>
    %os = tt.splat %o : !tt.ptr<i8> -> tensor<16384x!tt.ptr<i8>, #many>
    %op = tt.addptr %os, %i : tensor<16384x!tt.ptr<i8>, #many>, tensor<16384xi32, #many>
    tt.store %op, %r : tensor<16384x!tt.ptr<i8>, #many>
    tt.return
  }
}
