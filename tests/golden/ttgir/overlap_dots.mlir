// overlap-dots: the second of two dots is issued in the next iteration, behind the first one, and waited for behind the
// work on the first one's result. The first iteration is peeled; the last second dot comes after the loop. Copies into
// its buffer move behind the wait, all others stay where they are.
// RUN: tessera opt %s --target sm_90a -overlap-dots -canonicalize -cse | FileCheck %s
// RUN: tessera opt %s --target sm_90a -overlap-dots -o %t --remarks 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %S/../../kernels/desc_arguments_gated/desc_arguments_gated.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=GATED
// RUN: tessera compile %S/../../kernels/desc_arguments_attn/desc_arguments_attn.ttir --target sm_90a --num-warps 4 --num-stages 2 --emit ttgir | FileCheck %s --check-prefix=TWO
// RUN: tessera compile %S/../../kernels/attn_ragged/attn_ragged.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ptx | FileCheck %s --check-prefix=PTX
// RUN: tessera compile %S/../../kernels/attn_ragged/attn_ragged.ttir --target sm_120a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=NO-WGMMA
// Two delayed dots, neither scaled; no reduction stands for the work, so all of its results do.
// GATED: scf.for
// GATED: ttng.warp_group_dot
// GATED-NEXT: ttg.memdesc_index
// GATED-NEXT: %[[D0:.*]] = ttng.warp_group_dot
// GATED-NEXT: %[[D1:.*]] = ttng.warp_group_dot
// GATED: ttng.warp_group_dot_wait %{{[^ ,]*}} {pendings = 2 : i32}
// GATED: arith.divf
// GATED: ttng.warp_group_dot_wait %[[D0]], %[[D1]], %{{.*}} {pendings = 0 : i32}
// GATED: scf.yield
// GATED-COUNT-2: ttng.warp_group_dot %
// With copies one iteration ahead, those of V have mbarriers of their own, and the delayed dot waits for them.
// TWO-COUNT-4: ttng.init_barrier
// TWO: scf.for
// TWO: ttng.wait_barrier
// TWO: ttng.barrier_expect %{{.*}}, 4096
// TWO: ttng.async_tma_copy_global_to_local
// TWO: ttng.warp_group_dot
// TWO: ttng.wait_barrier
// TWO: ttng.warp_group_dot
// TWO: ttng.warp_group_dot_wait
// TWO: ttng.warp_group_dot_wait
// TWO-NEXT: ttng.barrier_expect %{{.*}}, 4096
// TWO-NEXT: ttng.async_tma_copy_global_to_local
// TWO-COUNT-4: ttng.inval_barrier
// One barrier an iteration. The wait for the second dot comes behind the exponentials: a barrier of the warp whose mask
// depends on them keeps ptxas from moving it up.
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: bar.sync
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX: ex2.approx
// PTX: bar.warp.sync %r
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: wgmma.wait_group.sync.aligned 0;
// REMARK: remark: 1 dot of an iteration runs under the work on the result of the next one's first dot: about {{[0-9]+}} cycles of dots beside {{[0-9]+}} of work, in iterations of {{[0-9]+}}; about {{[0-9]+}} registers of a thread [overlap-dots:DotsOverlapped]
// REMARK: remark: dots of an iteration do not run under the work of the next one: about 0 of {{[0-9]+}} cycles of an iteration would be saved [overlap-dots:DotsOverlapped]
// NO-WGMMA-NOT: scf.if

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
  // CHECK: ttng.warp_group_dot_wait %[[S0]] {pendings = 0 : i32}
  // CHECK: %[[X0:.*]] = math.exp2
  // CHECK: ttng.async_tma_copy_global_to_local %arg1
  // CHECK: %[[P0:.*]] = ttg.convert_layout
  // CHECK-NOT: ttng.warp_group_dot
  // CHECK: gpu.barrier
  // CHECK: scf.for {{.*}} iter_args({{.*}}%[[C:[^ ]*]] = %{{.*}}, %[[P:[^ ]*]] = %[[P0]],
  // CHECK: ttng.wait_barrier
  // CHECK: %[[S:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[V:.*]] = ttg.memdesc_index %{{.*}}[%[[BEFORE:.*]]]
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %[[V]], %{{.*}} {{.*}}isAsync = true
  // CHECK: ttng.barrier_expect
  // CHECK: ttng.async_tma_copy_global_to_local %arg0
  // CHECK-NOT: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.warp_group_dot_wait %[[S]] {pendings = 1 : i32}
  // CHECK: %[[X:.*]] = math.exp2
  // CHECK: %[[W:.*]]:2 = ttng.warp_group_dot_wait %[[D]], %[[X]] {pendings = 0 : i32}
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local %arg1
  // CHECK: arith.mulf %[[W]]#0
  // CHECK: arith.truncf
  // CHECK: scf.yield
  // CHECK: %[[LAST:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %[[LAST]] {pendings = 0 : i32}
  // CHECK: else
  tt.func public @chain(%k: !desc, %v: !desc, %q: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
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
      %p = math.exp2 %s : !tile
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

  // Without work between the dots there is nothing to gain.
  // CHECK-LABEL: @idle
  // CHECK-NOT: scf.if
  tt.func public @idle(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %vb = ttg.local_alloc : () -> !buffer
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %s = ttng.warp_group_dot %q, %q, %zero : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> !tile
      %p16 = arith.truncf %s : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %d = ttng.warp_group_dot %a, %vb, %acc : tensor<64x64xf16, #dot0> * !buffer -> !tile
      scf.yield %d : !tile
    }
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // Nothing moves: the buffer is written by a store; the first dot needs the second one's result; another agent is told
  // that the buffer was read; the attribute forbids it.
  // CHECK-LABEL: @stored
  // CHECK-NOT: scf.if
  tt.func public @stored(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %x: tensor<64x64xf16, #blocked>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %vb = ttg.local_alloc : () -> !buffer
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %s = ttng.warp_group_dot %q, %q, %zero : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      ttg.local_store %x, %vb : tensor<64x64xf16, #blocked> -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %acc : tensor<64x64xf16, #dot0> * !buffer -> !tile
      scf.yield %d : !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // CHECK-LABEL: @recurrence
  // CHECK-NOT: scf.if
  tt.func public @recurrence(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %vb = ttg.local_alloc : () -> !buffer
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %h16 = arith.truncf %acc : !tile to tensor<64x64xf16, #mma>
      %h = ttg.convert_layout %h16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %s = ttng.warp_group_dot %h, %q, %zero : tensor<64x64xf16, #dot0> * !ttg.memdesc<64x64xf16, #shared, #smem> -> !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %d = ttng.warp_group_dot %a, %vb, %zero : tensor<64x64xf16, #dot0> * !buffer -> !tile
      scf.yield %d : !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // CHECK-LABEL: @arrives
  // CHECK-NOT: scf.if
  tt.func public @arrives(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %vb = ttg.local_alloc : () -> !buffer
    %done = ttg.local_alloc : () -> !mbar
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %s = ttng.warp_group_dot %q, %q, %zero : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %d = ttng.warp_group_dot %a, %vb, %acc : tensor<64x64xf16, #dot0> * !buffer -> !tile
      ttng.arrive_barrier %done, 1 : !mbar
      scf.yield %d : !tile
    } {tessera.overlap_dots = true}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  // CHECK-LABEL: @forbidden
  // CHECK-NOT: scf.if
  tt.func public @forbidden(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %c0 = arith.constant 0 : i32
    %vb = ttg.local_alloc : () -> !buffer
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %s = ttng.warp_group_dot %q, %q, %zero : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<64x64xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
      %d = ttng.warp_group_dot %a, %vb, %acc : tensor<64x64xf16, #dot0> * !buffer -> !tile
      scf.yield %d : !tile
    } {tessera.overlap_dots = false}
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
