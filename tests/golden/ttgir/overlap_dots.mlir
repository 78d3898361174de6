// overlap-dots: the first of two dots is issued in the iteration before, behind the last use of its predecessor's result
// and before the costly part of the work. The last iteration is peeled.
// RUN: tessera opt %s --target sm_90a -overlap-dots -canonicalize -cse | FileCheck %s
// RUN: tessera opt %s --target sm_90a -overlap-dots -o %t --remarks 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %S/../../kernels/attn_ragged/attn_ragged.ttir --target sm_90a --num-warps 4 --num-stages 2 --emit ttgir | FileCheck %s --check-prefix=TWO
// RUN: tessera compile %S/../../kernels/attn_ragged/attn_ragged.ttir --target sm_120a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=TWO
// Copies one iteration ahead are too late; without wgmma there is nothing to issue ahead.
// TWO-NOT: scf.if
// REMARK: remark: the first dot of an iteration is issued in the one before and runs under its work: about {{[0-9]+}} cycles beside {{[0-9]+}}, in iterations of {{[0-9]+}}; about {{[0-9]+}} registers of a thread [overlap-dots:DotsOverlapped]
// REMARK: remark: the first dot of an iteration does not run under the work of the one before: it is done where the loop's attribute tessera.overlap_dots is true [overlap-dots:DotsOverlapped]

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf32, #mma>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!buffers = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!mbar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!mbars = !ttg.memdesc<3x1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @chain
  // CHECK: scf.if
  // CHECK: ttng.wait_barrier
  // CHECK: %[[S0:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[W0:.*]] = ttng.warp_group_dot_wait %[[S0]] {pendings = 0 : i32}
  // CHECK: scf.for {{.*}}iter_args({{.*}}%[[S:[^ ]*]] = %[[W0]]
  // CHECK: ttng.barrier_expect
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
  // CHECK: %[[X:.*]] = arith.mulf %[[S]]
  // CHECK: ttng.wait_barrier
  // CHECK: %[[NEXT:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: math.exp2 %[[X]]
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %[[NEXT]] {pendings = 0 : i32}
  // CHECK: scf.yield
  // CHECK-NOT: ttng.wait_barrier
  // CHECK: math.exp2
  // CHECK: ttng.warp_group_dot
  // CHECK: else
  tt.func public @chain(%k: !desc, %v: !desc, %x: tensor<64x64xf16, #blocked>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %q = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c64 iter_args(%read = %c0, %fill = %c2, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 16384, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %x1 = arith.mulf %s, %half : !tile
      %p = math.exp2 %x1 : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c3 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c3 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // Without the attribute the loop stays.
  // CHECK-LABEL: @unasked
  // CHECK-NOT: scf.if
  tt.func public @unasked(%k: !desc, %v: !desc, %x: tensor<64x64xf16, #blocked>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %q = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c64 iter_args(%read = %c0, %fill = %c2, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 16384, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %x1 = arith.mulf %s, %half : !tile
      %p = math.exp2 %x1 : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c3 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c3 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // The copies of the next iteration are issued in this one.
  // CHECK-LABEL: @close
  // CHECK-NOT: scf.if
  tt.func public @close(%k: !desc, %v: !desc, %x: tensor<64x64xf16, #blocked>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %q = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c64 iter_args(%read = %c0, %fill = %c1, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 16384, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %x1 = arith.mulf %s, %half : !tile
      %p = math.exp2 %x1 : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c3 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c3 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // The dot accumulates what the iteration before computed.
  // CHECK-LABEL: @computed
  // CHECK-NOT: scf.if
  tt.func public @computed(%k: !desc, %v: !desc, %x: tensor<64x64xf16, #blocked>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %q = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c64 iter_args(%read = %c0, %fill = %c2, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 16384, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %x1 = arith.mulf %s, %half : !tile
      %p = math.exp2 %x1 : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c3 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c3 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // Another agent receives a signal that the buffer was read.
  // CHECK-LABEL: @arrives
  // CHECK-NOT: scf.if
  tt.func public @arrives(%k: !desc, %v: !desc, %x: tensor<64x64xf16, #blocked>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %q = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c64 iter_args(%read = %c0, %fill = %c2, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 16384, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %x1 = arith.mulf %s, %half : !tile
      %p = math.exp2 %x1 : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot0> * !buffer -> !tile
      ttng.arrive_barrier %b, 1 : !mbar
      %read1 = arith.addi %read, %c1 : i32
      %readEnd = arith.cmpi sge, %read1, %c3 : i32
      %readNext = arith.select %readEnd, %c0, %read1 : i32
      %fill1 = arith.addi %fill, %c1 : i32
      %fillEnd = arith.cmpi sge, %fill1, %c3 : i32
      %fillNext = arith.select %fillEnd, %c0, %fill1 : i32
      %flip = arith.xori %phase, %c1 : i32
      %wraps = arith.cmpi eq, %readNext, %c0 : i32
      %phaseNext = arith.select %wraps, %flip, %phase : i32
      scf.yield %readNext, %fillNext, %phaseNext, %d : i32, i32, i32, !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

}
