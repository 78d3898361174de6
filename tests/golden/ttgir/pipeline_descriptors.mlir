// Loads through descriptor arguments are issued ahead as bulk copies, in any loop with dots; other loads of the loop stay
// copies of the threads.
// RUN: tessera compile %s --kernel gemm --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=GEMM
// RUN: tessera compile %s --kernel chain --target sm_90a --num-warps 4 --num-stages 2 --emit ttgir | FileCheck %s --check-prefix=CHAIN
// RUN: tessera compile %s --kernel mixed --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=MIXED
// RUN: tessera compile %s --kernel in_place --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=IN-PLACE
// RUN: tessera compile %s --kernel gemm --target sm_80 --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=SM80

// No tensor map is made: the arguments are used. Both copies of a stage arrive at one mbarrier; the transposed operand is
// a view of its buffer.
// GEMM-LABEL: @gemm
// GEMM-NOT: tensormap_create
// GEMM-COUNT-3: ttng.init_barrier
// GEMM: ttng.barrier_expect %{{.*}}, 16384
// GEMM: ttng.async_tma_copy_global_to_local %arg0[
// GEMM: ttng.async_tma_copy_global_to_local %arg1[
// GEMM: ttng.barrier_expect %{{.*}}, 16384
// GEMM: scf.for
// GEMM-NOT: ttg.async_wait
// GEMM: ttng.wait_barrier
// GEMM: ttg.memdesc_trans
// GEMM: ttng.warp_group_dot {{.*}}isAsync = true
// GEMM: ttng.warp_group_dot_wait
// GEMM: ttng.barrier_expect
// GEMM: ttng.async_tma_copy_global_to_local %arg0[
// GEMM: ttng.async_tma_copy_global_to_local %arg1[
// GEMM: scf.yield
// GEMM: ttng.inval_barrier
// GEMM: tt.descriptor_store %arg2[
// Without TMA there are pointers.
// SM80-NOT: tt.descriptor_
// SM80: tt.load
tt.func public @gemm(%a: !tt.tensordesc<tensor<64x64xf16>>, %b: !tt.tensordesc<tensor<64x64xf16>>, %c: !tt.tensordesc<tensor<64x64xf16>>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %y = tt.descriptor_load %b[%n, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tt.descriptor_store %c[%m, %n], %h : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  tt.return
}

// Two dots in a chain, the first operand loaded before the loop.
// CHAIN-LABEL: @chain
// CHAIN: tt.descriptor_load %arg0
// CHAIN: ttng.async_tma_copy_global_to_local %arg1[
// CHAIN: ttng.async_tma_copy_global_to_local %arg2[
// CHAIN: scf.for
// CHAIN: ttng.wait_barrier
// CHAIN: ttng.async_tma_copy_global_to_local %arg1[
// CHAIN: ttng.async_tma_copy_global_to_local %arg2[
// CHAIN: ttng.warp_group_dot
// CHAIN: ttng.warp_group_dot
// CHAIN: scf.yield
tt.func public @chain(%q: !tt.tensordesc<tensor<64x64xf16>>, %k: !tt.tensordesc<tensor<64x64xf16>>, %v: !tt.tensordesc<tensor<64x64xf16>>, %o: !tt.tensordesc<tensor<64x64xf32>>, %m: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tt.descriptor_load %q[%m, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  %acc = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %y = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %x, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %p = math.exp2 %d : tensor<64x64xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %z = tt.descriptor_load %v[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %e = tt.dot %h, %z, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  tt.descriptor_store %o[%m, %c0], %acc : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.return
}

// One operand through a descriptor, one through pointers: each stage waits for both.
// MIXED-LABEL: @mixed
// MIXED: ttng.barrier_expect %{{.*}}, 8192
// MIXED: ttng.async_tma_copy_global_to_local
// MIXED: ttg.async_copy_global_to_local
// MIXED: scf.for
// MIXED-DAG: ttng.wait_barrier
// MIXED-DAG: ttg.async_wait
// MIXED: ttng.warp_group_dot
// MIXED: scf.yield
tt.func public @mixed(%a: !tt.tensordesc<tensor<64x64xf16>>, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.tensordesc<tensor<64x64xf32>>, %m: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %start = arith.muli %row, %width : tensor<64x1xi32>
  %rows = tt.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %rows, %columns : tensor<64x64xi32>
  %base = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %first = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %r:2 = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero, %p = %first) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>)  : i32 {
    %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %y = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %p, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.descriptor_store %c[%m, %c0], %r#0 : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.return
}

// What the loop stores through the same descriptor may be what it loads later.
// IN-PLACE-LABEL: @in_place
// IN-PLACE-NOT: ttng.async_tma_copy
// IN-PLACE: tt.descriptor_load
// IN-PLACE: tt.descriptor_store
tt.func public @in_place(%a: !tt.tensordesc<tensor<64x64xf16>>, %m: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %i = %c0 to %k step %c64  : i32 {
    %x = tt.descriptor_load %a[%m, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %d = tt.dot %x, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
    tt.descriptor_store %a[%m, %i], %h : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  }
  tt.return
}
