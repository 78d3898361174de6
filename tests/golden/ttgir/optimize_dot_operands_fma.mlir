// Operands of dots lowered to FMA, which many threads need: they are computed in the layout of their loads and shared
// through a buffer.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands --target sm_90a | FileCheck %s
// RUN: tessera opt %s -tritongpu-optimize-dot-operands -loop-invariant-code-motion --target sm_90a | FileCheck %s --check-prefix=LARGE
// CHECK-LABEL: @scaled
// CHECK: %[[X:.*]] = tt.load
// CHECK: %[[S:.*]] = arith.mulf %[[X]], {{.*}} : tensor<64x32xf32, #blocked>
// CHECK: %[[M:.*]] = ttg.local_alloc %[[S]]
// CHECK: %[[A:.*]] = ttg.local_load %[[M]]
// CHECK: tt.dot %[[A]]
#l = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled(%p: tensor<64x32x!tt.ptr<f32>, #l>, %y: tensor<32x64xf32, #b>, %s: f32, %n: i32, %zero: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %scale = tt.splat %s : f32 -> tensor<64x32xf32, #l>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
      %at = tt.splat %i : i32 -> tensor<64x32xi32, #l>
      %q = tt.addptr %p, %at : tensor<64x32x!tt.ptr<f32>, #l>, tensor<64x32xi32, #l>
      %v = tt.load %q : tensor<64x32x!tt.ptr<f32>, #l>
      %x = arith.mulf %v, %scale : tensor<64x32xf32, #l>
      %xa = ttg.convert_layout %x : tensor<64x32xf32, #l> -> tensor<64x32xf32, #a>
      %d = tt.dot %xa, %y, %sum : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #acc>
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tt.return %r : tensor<64x64xf32, #acc>
  }

  // A loop-invariant operand of 512 registers of a thread would be spilled: each loop reads it from shared memory. One
  // of 64 registers is held.
  // LARGE-LABEL: @loop_invariant
  // LARGE: %[[M:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x64xf32, #blocked>)
  // LARGE-NOT: ttg.local_load %[[M]]
  // LARGE: scf.for
  // LARGE-NEXT: %[[A:.*]] = ttg.local_load %[[M]]
  // LARGE-NEXT: tt.dot %[[A]]
  // LARGE: scf.for
  // LARGE-NEXT: %[[B:.*]] = ttg.local_load %[[M]]
  // LARGE-NEXT: tt.dot %[[B]]
  // LARGE: %[[N:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x8xf32, #blocked>)
  // LARGE: %[[C:.*]] = ttg.local_load %[[N]]
  // LARGE: scf.for
  // LARGE-NEXT: tt.dot %[[C]]
  tt.func public @loop_invariant(%x: tensor<64x64xf32, #l>, %y: tensor<64x64xf32, #b>, %u: tensor<64x8xf32, #l>, %v: tensor<8x64xf32, #b>, %n: i32, %zero: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %xa = ttg.convert_layout %x : tensor<64x64xf32, #l> -> tensor<64x64xf32, #a>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
      %d = tt.dot %xa, %y, %sum : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #acc>
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %r) -> (tensor<64x64xf32, #acc>) : i32 {
      %d = tt.dot %xa, %y, %sum : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #acc>
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    %ua = ttg.convert_layout %u : tensor<64x8xf32, #l> -> tensor<64x8xf32, #a>
    %w = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %t) -> (tensor<64x64xf32, #acc>) : i32 {
      %d = tt.dot %ua, %v, %sum : tensor<64x8xf32, #a> * tensor<8x64xf32, #b> -> tensor<64x64xf32, #acc>
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tt.return %w : tensor<64x64xf32, #acc>
  }
}
