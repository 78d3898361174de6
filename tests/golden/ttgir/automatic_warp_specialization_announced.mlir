// tritongpu-automatic-warp-specialization of loops with two stages: the operands share the mbarriers where the copies
// before the loop cannot have others. Those of each operand: automatic_warp_specialization_two_stages.mlir.
// RUN: tessera opt %s --target sm_90a -tritongpu-automatic-warp-specialization -canonicalize | FileCheck %s
// Copies into the buffer that the iteration reads first would have to wait for it: such loops have no producer.
// RUN: sed 's/%fill = %c1,/%fill = %c0,/' %s | tessera opt - --target sm_90a -tritongpu-automatic-warp-specialization | FileCheck %s --check-prefix=SAME
// SAME-NOT: ttg.warp_specialize(
// SAME: tt.return

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = tensor<128x128xf32, #mma>
!buffer = !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x128xf16, #shared>>
!mbar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!pair = !ttg.memdesc<2x128x128xf16, #shared, #smem, mutable>
!mbarPair = !ttg.memdesc<2x1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The copies before the loop signal an mbarrier of their own, which is waited for there.
  // CHECK-LABEL: @own_mbarrier
  // CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK-NOT: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK: ttg.warp_specialize(
  tt.func public @own_mbarrier(%k: !desc, %v: !desc, %q: !ttg.memdesc<128x128xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c128 = arith.constant 128 : i32
    %ks = ttg.local_alloc : () -> !pair
    %vs = ttg.local_alloc : () -> !pair
    %bars = ttg.local_alloc : () -> !mbarPair
    %some = arith.cmpi slt, %c0, %n : i32
    %b0 = ttg.memdesc_index %bars[%c0] : !mbarPair -> !mbar
    ttng.barrier_expect %b0, 0, %some : !mbar
    %own = ttg.local_alloc : () -> !mbar
    ttng.barrier_expect %own, 65536, %some : !mbar
    %k0 = ttg.memdesc_index %ks[%c0] : !pair -> !buffer
    ttng.async_tma_copy_global_to_local %k[%c0, %c0] %k0, %own, %some : !desc, !mbar -> !buffer
    %v0 = ttg.memdesc_index %vs[%c0] : !pair -> !buffer
    ttng.async_tma_copy_global_to_local %v[%c0, %c0] %v0, %own, %some : !desc, !mbar -> !buffer
    ttng.wait_barrier %own, %c0, %some : !mbar
    %r:4 = scf.for %i = %c0 to %n step %c128 iter_args(%read = %c0, %fill = %c1, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbarPair -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !pair -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x128xf16, #shared, #smem> * !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbarPair -> !mbar
      ttng.barrier_expect %bf, 65536, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !pair -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !pair -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<128x128xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !pair -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<128x128xf16, #dot0> * !buffer -> !tile
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c2 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c2 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }

  // Their bytes are announced after them.
  // CHECK-LABEL: @announced_after
  // CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK-NOT: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK: ttg.warp_specialize(
  tt.func public @announced_after(%k: !desc, %v: !desc, %q: !ttg.memdesc<128x128xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c128 = arith.constant 128 : i32
    %ks = ttg.local_alloc : () -> !pair
    %vs = ttg.local_alloc : () -> !pair
    %bars = ttg.local_alloc : () -> !mbarPair
    %some = arith.cmpi slt, %c0, %n : i32
    %b0 = ttg.memdesc_index %bars[%c0] : !mbarPair -> !mbar
    %k0 = ttg.memdesc_index %ks[%c0] : !pair -> !buffer
    ttng.async_tma_copy_global_to_local %k[%c0, %c0] %k0, %b0, %some : !desc, !mbar -> !buffer
    %v0 = ttg.memdesc_index %vs[%c0] : !pair -> !buffer
    ttng.async_tma_copy_global_to_local %v[%c0, %c0] %v0, %b0, %some : !desc, !mbar -> !buffer
    ttng.barrier_expect %b0, 65536, %some : !mbar
    %r:4 = scf.for %i = %c0 to %n step %c128 iter_args(%read = %c0, %fill = %c1, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbarPair -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !pair -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x128xf16, #shared, #smem> * !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbarPair -> !mbar
      ttng.barrier_expect %bf, 65536, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !pair -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !pair -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<128x128xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !pair -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<128x128xf16, #dot0> * !buffer -> !tile
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c2 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c2 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }
}
