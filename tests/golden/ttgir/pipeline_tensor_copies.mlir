// tritongpu-pipeline: loads through descriptors that a kernel makes before a persistent loop become bulk tensor copies
// (TMA). Not in a loop without an outer one, where the tensor maps would serve one loop only.
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s
// RUN: tessera compile %s --kernel once --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=ONCE
// RUN: tessera compile %s --kernel tiles --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=SM80
// RUN: tessera compile %s --kernel tiles --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir -o %t --remarks='TensorMap|LoopPipelined' 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: the descriptor is a tensor map: its blocks are copied by TMA [triton-nvidia-optimize-descriptor-encoding:TensorMapMade]
// REMARK: the descriptor becomes pointers and masks: no loop within a loop after it loads operands of dots by it [triton-nvidia-optimize-descriptor-encoding:TensorMapMade]
// REMARK: ; blocks of tensors are copied by TMA [tritongpu-pipeline:LoopPipelined]
// SM80-LABEL: @tiles
// SM80-NOT: ttng.

module {
  // CHECK-LABEL: @tiles
  // CHECK-COUNT-3: tt.make_tensor_descriptor {{.*}} <tensor<64x64xf16, #shared>>
  // CHECK-COUNT-3: ttng.init_barrier
  // CHECK: ttng.barrier_expect %{{.*}}, 16384, %
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.barrier_expect
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
  // CHECK: ttng.barrier_expect
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
  // CHECK: arith.xori
  // CHECK: scf.yield
  // CHECK: ttng.barrier_expect
  // CHECK-COUNT-4: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK: tt.descriptor_store
  // CHECK-COUNT-3: ttng.inval_barrier
  // CHECK-NOT: ttg.async_copy_global_to_local
  // CHECK: tt.return
  tt.func public @tiles(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %k: i32 {tt.divisibility = 16 : i32}) {
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %wide = arith.extsi %k : i32 to i64
    %wn = arith.extsi %n : i32 to i64
    %da = tt.make_tensor_descriptor %a, [%m, %k], [%wide, %one] : <f16>, <tensor<64x64xf16>>
    %db = tt.make_tensor_descriptor %b, [%n, %k], [%wide, %one] : <f16>, <tensor<64x64xf16>>
    %dc = tt.make_tensor_descriptor %c, [%m, %n], [%wn, %one] : <f16>, <tensor<64x64xf16>>
    scf.for %t = %c0 to %m step %c64 : i32 {
      %acc = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
        %x = tt.descriptor_load %da[%t, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
        %y = tt.descriptor_load %db[%c0, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
        %z = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
        %d = tt.dot %x, %z, %sum, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %r = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
      tt.descriptor_store %dc[%t, %c0], %r : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    }
    tt.return
  }

  // ONCE-LABEL: @once
  // ONCE-NOT: tt.make_tensor_descriptor
  // ONCE: ttg.async_copy_global_to_local
  tt.func public @once(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %k: i32 {tt.divisibility = 16 : i32}) {
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %wide = arith.extsi %k : i32 to i64
    %wn = arith.extsi %n : i32 to i64
    %da = tt.make_tensor_descriptor %a, [%m, %k], [%wide, %one] : <f16>, <tensor<64x64xf16>>
    %db = tt.make_tensor_descriptor %b, [%n, %k], [%wide, %one] : <f16>, <tensor<64x64xf16>>
    %dc = tt.make_tensor_descriptor %c, [%m, %n], [%wn, %one] : <f16>, <tensor<64x64xf16>>
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %da[%c0, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.descriptor_load %db[%c0, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %z = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %z, %sum, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %r = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
    tt.descriptor_store %dc[%c0, %c0], %r : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.return
  }
}
