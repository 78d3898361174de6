// tritongpu-automatic-warp-specialization: a loop stays whole where one warp cannot make the addresses or maps of its
// copies.
// RUN: tessera opt %s --target sm_90a -tritongpu-automatic-warp-specialization -canonicalize | FileCheck %s
// RUN: tessera opt %s --target sm_90a -tritongpu-automatic-warp-specialization -o %t --remarks 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: no producer warp issues the loop's copies: addresses of copies depend on tensors or loads [
// REMARK: remark: no producer warp issues the loop's copies: the kernel itself makes the tensor map of a copy [
// RUN: tessera compile %S/../../kernels/desc_arguments_softmax/desc_arguments_softmax.ttir --target sm_90a --emit ttgir -o %t --remarks=WarpsSpecialized 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: no producer warp issues the loop's copies: 'tt.descriptor_store' at {{.*}} synchronises or copies, too [

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = tensor<128x128xf32, #mma>
!buffer = !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
!buffers = !ttg.memdesc<3x128x128xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x128xf16, #shared>>
!mbar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!mbars = !ttg.memdesc<3x1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // An address needs a tensor, which the producer does not have.
  // CHECK-LABEL: @computed_address
  // CHECK-NOT: ttg.warp_specialize(
  tt.func public @computed_address(%k: !desc, %v: !desc, %q: !ttg.memdesc<128x128xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c128 = arith.constant 128 : i32
    %ids = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c128 iter_args(%read = %c0, %fill = %c2, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x128xf16, #shared, #smem> * !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable> -> !tile
      %rows = "tt.reduce"(%ids) <{axis = 0 : i32}> ({
      ^bb0(%x: i32, %y: i32):
        %z = arith.addi %x, %y : i32
        tt.reduce.return %z : i32
      }) : (tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>) -> i32
      %row = arith.addi %rows, %i : i32
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 65536, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%row, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<128x128xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<128x128xf16, #dot0> * !buffer -> !tile
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
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }

  // The kernel makes a map, and its own warps acquire it.
  // CHECK-LABEL: @made
  // CHECK-NOT: ttg.warp_specialize(
  tt.func public @made(%k: !desc, %map: !tt.ptr<i8>, %q: !ttg.memdesc<128x128xf16, #shared, #smem>, %n: i32, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : !tile
    %half = arith.constant dense<0.5> : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c128 = arith.constant 128 : i32
    %v = ttng.reinterpret_tensor_descriptor %map : !tt.ptr<i8> to !desc
    %ks = ttg.local_alloc : () -> !buffers
    %vs = ttg.local_alloc : () -> !buffers
    %bars = ttg.local_alloc : () -> !mbars
    %r:4 = scf.for %i = %c0 to %n step %c128 iter_args(%read = %c0, %fill = %c2, %phase = %c0, %acc = %zero) -> (i32, i32, i32, !tile) : i32 {
      %b = ttg.memdesc_index %bars[%read] : !mbars -> !mbar
      ttng.wait_barrier %b, %phase : !mbar
      %kb = ttg.memdesc_index %ks[%read] : !buffers -> !buffer
      %kt = ttg.memdesc_trans %kb {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable>
      %s = ttng.warp_group_dot %q, %kt, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x128xf16, #shared, #smem> * !ttg.memdesc<128x128xf16, #sharedT, #smem, mutable> -> !tile
      %pred = arith.cmpi slt, %i, %n : i32
      %bf = ttg.memdesc_index %bars[%fill] : !mbars -> !mbar
      ttng.barrier_expect %bf, 65536, %pred : !mbar
      %kf = ttg.memdesc_index %ks[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %k[%i, %c0] %kf, %bf, %pred : !desc, !mbar -> !buffer
      %vf = ttg.memdesc_index %vs[%fill] : !buffers -> !buffer
      ttng.async_tma_copy_global_to_local %v[%i, %c0] %vf, %bf, %pred : !desc, !mbar -> !buffer
      %scaled = arith.mulf %acc, %half : !tile
      %p = math.exp2 %s : !tile
      %p16 = arith.truncf %p : !tile to tensor<128x128xf16, #mma>
      %a = ttg.convert_layout %p16 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #dot0>
      %vb = ttg.memdesc_index %vs[%read] : !buffers -> !buffer
      %d = ttng.warp_group_dot %a, %vb, %scaled {inputPrecision = 0 : i32} : tensor<128x128xf16, #dot0> * !buffer -> !tile
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
    %ptrs = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #mma>
    tt.store %ptrs, %r#3 : tensor<128x128x!tt.ptr<f32>, #mma>
    tt.return
  }
}
