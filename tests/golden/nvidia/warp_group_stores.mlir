// Copies of the rows of warp groups: a barrier of its own for each group of four warps, numbered after those of the
// block, of the own warps and of the partition; one thread of each group copies; the tensor map has boxes of its rows.
// All copies through one descriptor have boxes of one size: another one with whole boxes is an error.
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit ptx -o /dev/null --metadata - | FileCheck %s --check-prefix=META
// RUN: not tessera compile %S/inputs/warp_group_boxes.mlir --target sm_90a --emit ptx -o %t 2>&1 | FileCheck %s --check-prefix=MIXED

// The group's number is that of the warp in units of four.
// CHECK: shr.u32 [[G:%r[0-9]+]], %r{{[0-9]+}}, 7;
// CHECK: add.s32 [[BARRIER:%r[0-9]+]], [[G]], 3;
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK: bar.sync [[BARRIER]], 128;
// CHECK: fence.proxy.async
// CHECK: bar.sync [[BARRIER]], 128;
// CHECK: @%p{{[0-9]+}} cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: cp.async.bulk.commit_group;

// META: "block_size": [
// META-NEXT: 64,
// META-NEXT: 64
// META-NEXT: ],

// MIXED: inputs/warp_group_boxes.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'ttng.async_tma_copy_local_to_global' copies boxes of other sizes than another use of its descriptor

#rows = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<128x64xf16, #rows>
!buffer = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%d: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %v = arith.constant dense<1.0> : !tile
    ttg.warp_specialize(%n) attributes {requestedRegisters = array<i32: 24>}
    default {
      %b = ttg.local_alloc : () -> !buffer
      scf.for %i = %c0 to %n step %c128 : i32 {
        ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
        ttg.local_store %v, %b : !tile -> !buffer
        ttng.async_tma_copy_local_to_global %d[%i, %c0] %b : !desc, !buffer
      }
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
