// Operands of dots are read where TMA puts them.
// RUN: tessera compile %s --kernel reshaped --target sm_90a --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=RESHAPED
// RUN: tessera compile %s --kernel columns --target sm_90a --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=COLUMNS
// RUN: tessera compile %s --kernel reshaped --target sm_120a --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=MMA
// RUN: tessera compile %s --kernel columns --target sm_120a --num-warps 4 --emit ptx | FileCheck %s --check-prefix=LDMATRIX
// RUN: tessera compile %s --kernel values8 --target sm_90a --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=VALUES8
// RUN: tessera compile %s --kernel values8 --target sm_90a --num-warps 4 --emit ttgir --remarks='tritongpu-accelerate-matmul.*' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %s --kernel rows --target sm_90a --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=ROWS

// A block of 8 x 8 x 64 is 64 rows: wgmma reads the buffer as such, and the result is stored in its own shape.
// RESHAPED-LABEL: @reshaped
// RESHAPED-NOT: tt.reshape
// RESHAPED: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #[[S:[a-z0-9]+]],
// RESHAPED: scf.for
// RESHAPED-NOT: ttg.local_load
// RESHAPED: ttng.warp_group_dot %{{.*}} : !ttg.memdesc<64x64xf16, #[[S]], #smem, mutable> * !ttg.memdesc<64x64xf16,
// RESHAPED: scf.yield
// RESHAPED: tt.descriptor_store %{{.*}} : !tt.tensordesc<tensor<1x8x8x64xf16, {{.*}}>>, tensor<64x64xf16, #
//
// By mma.sync, from the descriptor's layout: no other buffer.
// MMA-LABEL: @reshaped
// MMA: scf.for
// MMA-NOT: ttg.local_alloc
// MMA: tt.dot
// MMA: scf.yield
tt.func public @reshaped(%x: !tt.tensordesc<tensor<1x8x8x64xf16>>, %w: !tt.tensordesc<tensor<64x64xf16>>, %y: !tt.tensordesc<tensor<1x8x8x64xf16>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a4 = tt.descriptor_load %x[%c0, %c0, %c0, %k] : !tt.tensordesc<tensor<1x8x8x64xf16>> -> tensor<1x8x8x64xf16>
    %a = tt.reshape %a4 : tensor<1x8x8x64xf16> -> tensor<64x64xf16>
    %bt = tt.descriptor_load %w[%c0, %k] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %b = tt.trans %bt {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %a, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %o = tt.reshape %h : tensor<64x64xf16> -> tensor<1x8x8x64xf16>
  tt.descriptor_store %y[%c0, %c0, %c0, %c0], %o : !tt.tensordesc<tensor<1x8x8x64xf16>>, tensor<1x8x8x64xf16>
  tt.return
}

// 128 columns are two copies of 64, 64 rows each, in a block of 1 x 32 x 2 x 128 as in one of 64 x 128. One that merges
// columns into the rows is another order of the copies' bytes: it stays a reshape.
// COLUMNS-LABEL: @columns
// COLUMNS: ttg.local_alloc : () -> !ttg.memdesc<3x64x128xf16,
// COLUMNS: scf.for
// COLUMNS: ttg.local_load {{.*}} -> tensor<1x1x64x128xf16
// COLUMNS: tt.reshape %{{.*}} -> tensor<128x64xf16
// LDMATRIX-LABEL: .entry columns
// LDMATRIX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// LDMATRIX: mma.sync
tt.func public @columns(%x: !tt.tensordesc<tensor<1x32x2x128xf16>>, %w: !tt.tensordesc<tensor<1x1x64x128xf16>>, %y: !tt.tensordesc<tensor<64x64xf32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c128 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a4 = tt.descriptor_load %x[%c0, %c0, %c0, %k] : !tt.tensordesc<tensor<1x32x2x128xf16>> -> tensor<1x32x2x128xf16>
    %a = tt.reshape %a4 : tensor<1x32x2x128xf16> -> tensor<64x128xf16>
    %b4 = tt.descriptor_load %w[%c0, %c0, %k, %c0] : !tt.tensordesc<tensor<1x1x64x128xf16>> -> tensor<1x1x64x128xf16>
    %b = tt.reshape %b4 : tensor<1x1x64x128xf16> -> tensor<128x64xf16>
    %d = tt.dot %a, %b, %acc : tensor<64x128xf16> * tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.descriptor_store %y[%c0, %c0], %sum : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.return
}

// Values of 8 bits across K: wgmma cannot read them so, and a chain of dots is not transposed. Threads store them along K.
// REMARK: is computed by wgmma m64n64k32, the B operand stored along K, the A operand in registers
// VALUES8-LABEL: @values8
// VALUES8: scf.for
// VALUES8: ttng.warp_group_dot
// VALUES8: %[[V:.*]] = ttg.local_load {{.*}} -> tensor<64x64xf8E4M3FN, #
// VALUES8: %[[B:.*]] = ttg.local_alloc %[[V]] : {{.*}} -> !ttg.memdesc<64x64xf8E4M3FN, #[[K:[a-z0-9]+]], #smem>
// VALUES8: ttng.warp_group_dot %{{.*}}, %[[B]],
// VALUES8-NOT: tt.dot
tt.func public @values8(%qd: !tt.tensordesc<tensor<64x64xf8E4M3FN>>, %kd: !tt.tensordesc<tensor<64x64xf8E4M3FN>>, %vd: !tt.tensordesc<tensor<64x64xf8E4M3FN>>, %o: !tt.tensordesc<tensor<64x64xf32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %q = tt.descriptor_load %qd[%c0, %c0] : !tt.tensordesc<tensor<64x64xf8E4M3FN>> -> tensor<64x64xf8E4M3FN>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %kt = tt.descriptor_load %kd[%i, %c0] : !tt.tensordesc<tensor<64x64xf8E4M3FN>> -> tensor<64x64xf8E4M3FN>
    %k = tt.trans %kt {order = array<i32: 1, 0>} : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %s = tt.dot %q, %k, %zero : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %p = tt.fp_to_fp %e, rounding = rtne : tensor<64x64xf32> -> tensor<64x64xf8E4M3FN>
    %v = tt.descriptor_load %vd[%i, %c0] : !tt.tensordesc<tensor<64x64xf8E4M3FN>> -> tensor<64x64xf8E4M3FN>
    %d = tt.dot %p, %v, %acc {maxNumImpreciseAcc = 1073741824 : i32} : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.descriptor_store %o[%c0, %c0], %sum : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.return
}

// Rows that are gathered have no tensor map on sm_90a. Where the launch's descriptor admits it, they are asynchronous
// copies of 16 bytes.
// ROWS-LABEL: @rows
// ROWS: scf.if
// ROWS: scf.for
// ROWS: ttng.wait_barrier
// ROWS: ttg.async_copy_global_to_local {{.*}}64x64x!tt.ptr<f16>
// ROWS: } else {
tt.func public @rows(%x: !tt.tensordesc<tensor<1x64xf16>>, %w: !tt.tensordesc<tensor<64x64xf16>>, %y: !tt.tensordesc<tensor<64x64xf32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a = tt.descriptor_gather %x[%r, %k] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<64xi32>, i32) -> tensor<64x64xf16>
    %b = tt.descriptor_load %w[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %d = tt.dot %a, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.descriptor_store %y[%c0, %c0], %sum : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.return
}
