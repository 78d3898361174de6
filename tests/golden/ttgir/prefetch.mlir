// tritongpu-prefetch: the next iteration's first K step of both operands is loaded after the barrier that iteration
// would wait for. Masked copies write zeros, the loop keeps its one barrier because the buffer read ahead is not the
// one that the next iteration fills, and 16-bit values are carried packed in words.
// RUN: tessera compile %s --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir -o %t.mlir && FileCheck %s < %t.mlir
// RUN: tessera compile %s --target sm_80 --num-warps 4 --num-stages 3 --emit llir -o - | FileCheck --check-prefix=WORDS %s
// RUN: tessera opt %t.mlir -allocate-shared-memory -insert-barriers | FileCheck --check-prefix=BARRIER %s
// RUN: tessera compile %s --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=WITHOUT %s
// RUN: tessera compile %s --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir -o - | FileCheck --check-prefix=WGMMA %s
// RUN: tessera compile %s --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir -o %t.mlir --skip-pass tritongpu-prefetch && tessera opt %t.mlir -tritongpu-prefetch | FileCheck --check-prefix=OPT %s

// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK: %[[A:.*]] = ttg.memdesc_subslice %{{.*}}[0, 0] : {{.*}} -> !ttg.memdesc<64x16xf16, {{.*}}64x64>
// CHECK: ttg.local_load %[[A]] token
// CHECK: %[[B:.*]] = ttg.memdesc_subslice %{{.*}}[0, 0] : {{.*}} -> !ttg.memdesc<16x64xf16, {{.*}}64x64>
// CHECK: ttg.local_load %[[B]] token
// CHECK: scf.for {{.*}}iter_args({{.*}}%[[FA:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[FB:[a-z0-9_]+]] = %{{[a-z0-9_]+}})
// CHECK-NOT: ttg.async_wait
// CHECK: ttg.async_copy_global_to_local {{.*}} other %
// CHECK-DAG: ttg.memdesc_subslice %{{.*}}[0, 16] : {{.*}} -> !ttg.memdesc<64x16xf16
// CHECK-DAG: ttg.memdesc_subslice %{{.*}}[16, 0] : {{.*}} -> !ttg.memdesc<16x64xf16
// CHECK-DAG: ttg.memdesc_subslice %{{.*}}[0, 32] : {{.*}} -> !ttg.memdesc<64x32xf16
// CHECK-DAG: ttg.memdesc_subslice %{{.*}}[32, 0] : {{.*}} -> !ttg.memdesc<32x64xf16
// CHECK: %[[D0:.*]] = tt.dot %[[FA]], %[[FB]], %
// CHECK: %[[D1:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[D0]]
// CHECK: tt.dot %{{.*}}, %{{.*}}, %[[D1]]
// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK: ttg.memdesc_subslice %{{.*}}[0, 0] : {{.*}} -> !ttg.memdesc<64x16xf16
// CHECK: ttg.memdesc_subslice %{{.*}}[0, 0] : {{.*}} -> !ttg.memdesc<16x64xf16
// CHECK: scf.yield

// BARRIER: scf.for
// BARRIER-NOT: gpu.barrier
// BARRIER: ttg.async_copy_global_to_local
// BARRIER-NOT: gpu.barrier
// BARRIER: ttg.async_wait
// BARRIER: gpu.barrier
// BARRIER-NOT: gpu.barrier
// BARRIER: scf.yield

// WORDS-NOT: phi half
// WORDS: phi i32 [ %
// WORDS-NOT: phi half

// WITHOUT: scf.for
// WITHOUT-NOT: ttg.memdesc_subslice
// WITHOUT: scf.yield

// OPT: ttg.memdesc_subslice %{{.*}}[0, 0]
// OPT: scf.for
// OPT-COUNT-3: tt.dot
// OPT: ttg.memdesc_subslice %{{.*}}[0, 0]
// OPT: scf.yield

// WGMMA-NOT: ttg.memdesc_subslice
// WGMMA: ttng.warp_group_dot

tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ro = arith.muli %r1, %width : tensor<64x1xi32>
  %rb = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %rb, %cb : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pa = tt.addptr %as, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pb = tt.addptr %bs, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %pa, %y = %pb) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %u = tt.load %x : tensor<64x64x!tt.ptr<f16>>
    %v = tt.load %y : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %u, %v, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %x1 = tt.addptr %x, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y1 = tt.addptr %y, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %x1, %y1 : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %pc, %s#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
