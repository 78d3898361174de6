// tritongpu-pipeline: copies go into the buffers that the iteration has read itself, where the buffer that this saves lets
// another block fit on a multiprocessor. As many iterations ahead as there are buffers.
// RUN: tessera compile %s --kernel waited --target sm_90a --num-stages 3 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=WAITED %s
// RUN: tessera compile %s --kernel waited --target sm_90a --num-stages 5 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=FEWER %s
// RUN: tessera compile %s --kernel single --target sm_90a --num-stages 2 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=SINGLE %s
// RUN: tessera compile %s --kernel registers --target sm_90a --num-stages 5 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=REGISTERS %s
// RUN: tessera compile %s --kernel in_flight --target sm_90a --num-stages 3 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=FLIGHT %s

// The B operand is read by threads, so the dot is waited for: two buffers of 40 KiB instead of three, one block more.
// With five stages, two blocks of two buffers have as many copies in flight as one block of five.
// WAITED: ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf32
// WAITED: scf.for
// WAITED: ttng.wait_barrier
// WAITED: ttg.memdesc_index %{{.*}}[%[[I:.*]]] : !ttg.memdesc<2x32x64xf32
// WAITED: ttng.warp_group_dot
// WAITED-NOT: isAsync
// WAITED: ttng.barrier_expect
// WAITED: ttng.async_tma_copy_global_to_local
// WAITED: scf.yield
// FEWER: ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf32

// A single block with one copy in flight waits for it in each iteration, longer than for its dots: three blocks with a
// buffer each instead.
// SINGLE: ttg.local_alloc : () -> !ttg.memdesc<1x32x128xf16
// SINGLE: scf.for
// SINGLE: ttng.wait_barrier
// SINGLE: ttng.warp_group_dot
// SINGLE-NOT: isAsync
// SINGLE: ttng.async_tma_copy_global_to_local
// SINGLE: scf.yield

// By mma.sync: all operands are read before the copies.
// REGISTERS: ttg.local_alloc : () -> !ttg.memdesc<4x32x128xf16
// REGISTERS: scf.for
// REGISTERS: ttg.local_load
// REGISTERS: ttg.local_load
// REGISTERS: ttng.async_tma_copy_global_to_local
// REGISTERS: tt.dot
// REGISTERS: scf.yield

// Enough blocks fit as it is. The dot stays in flight, with the accumulator carried as the transposed dot has it.
// FLIGHT: ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf16
// FLIGHT: scf.for {{.*}} -> (tensor<128x32xf32
// FLIGHT-NOT: tt.trans
// FLIGHT: ttng.warp_group_dot {{.*}}isAsync = true
// FLIGHT: ttng.warp_group_dot_wait {{.*}}pendings = 1
// FLIGHT: ttng.async_tma_copy_global_to_local
// FLIGHT-NOT: tt.trans
// FLIGHT: scf.yield
// FLIGHT: tt.trans

tt.func public @waited(%a: !tt.tensordesc<tensor<32x64xf32>>, %b: !tt.tensordesc<tensor<64x128xf32>>, %o: !tt.tensordesc<tensor<32x128xf32>>, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %start = arith.constant dense<0.0> : tensor<32x128xf32>
  %sum = scf.for %k = %zero to %n step %step iter_args(%acc = %start) -> (tensor<32x128xf32>) : i32 {
    %x = tt.descriptor_load %a[%zero, %k] : !tt.tensordesc<tensor<32x64xf32>> -> tensor<32x64xf32>
    %y = tt.descriptor_load %b[%k, %zero] : !tt.tensordesc<tensor<64x128xf32>> -> tensor<64x128xf32>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<32x64xf32> * tensor<64x128xf32> -> tensor<32x128xf32>
    scf.yield %d : tensor<32x128xf32>
  }
  tt.descriptor_store %o[%zero, %zero], %sum : !tt.tensordesc<tensor<32x128xf32>>, tensor<32x128xf32>
  tt.return
}
tt.func public @single(%a: !tt.tensordesc<tensor<32x128xf16>>, %b: !tt.tensordesc<tensor<128x256xf16>>, %o: !tt.tensordesc<tensor<32x256xf32>>, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %start = arith.constant dense<0.0> : tensor<32x256xf32>
  %sum = scf.for %k = %zero to %n step %step iter_args(%acc = %start) -> (tensor<32x256xf32>) : i32 {
    %x = tt.descriptor_load %a[%zero, %k] : !tt.tensordesc<tensor<32x128xf16>> -> tensor<32x128xf16>
    %y = tt.descriptor_load %b[%k, %zero] : !tt.tensordesc<tensor<128x256xf16>> -> tensor<128x256xf16>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<32x128xf16> * tensor<128x256xf16> -> tensor<32x256xf32>
    scf.yield %d : tensor<32x256xf32>
  }
  tt.descriptor_store %o[%zero, %zero], %sum : !tt.tensordesc<tensor<32x256xf32>>, tensor<32x256xf32>
  tt.return
}
tt.func public @registers(%a: !tt.tensordesc<tensor<32x128xf16>>, %b: !tt.tensordesc<tensor<128x32xf16>>, %o: !tt.tensordesc<tensor<32x32xf32>>, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %start = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %zero to %n step %step iter_args(%acc = %start) -> (tensor<32x32xf32>) : i32 {
    %x = tt.descriptor_load %a[%zero, %k] : !tt.tensordesc<tensor<32x128xf16>> -> tensor<32x128xf16>
    %y = tt.descriptor_load %b[%k, %zero] : !tt.tensordesc<tensor<128x32xf16>> -> tensor<128x32xf16>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<32x128xf16> * tensor<128x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  tt.descriptor_store %o[%zero, %zero], %sum : !tt.tensordesc<tensor<32x32xf32>>, tensor<32x32xf32>
  tt.return
}
tt.func public @in_flight(%a: !tt.tensordesc<tensor<32x32xf16>>, %b: !tt.tensordesc<tensor<32x128xf16>>, %o: !tt.tensordesc<tensor<32x128xf32>>, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %start = arith.constant dense<0.0> : tensor<32x128xf32>
  %sum = scf.for %k = %zero to %n step %step iter_args(%acc = %start) -> (tensor<32x128xf32>) : i32 {
    %x = tt.descriptor_load %a[%zero, %k] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
    %y = tt.descriptor_load %b[%k, %zero] : !tt.tensordesc<tensor<32x128xf16>> -> tensor<32x128xf16>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<32x32xf16> * tensor<32x128xf16> -> tensor<32x128xf32>
    scf.yield %d : tensor<32x128xf32>
  }
  tt.descriptor_store %o[%zero, %zero], %sum : !tt.tensordesc<tensor<32x128xf32>>, tensor<32x128xf32>
  tt.return
}
