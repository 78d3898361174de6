// Tensor descriptors as kernel arguments: the 128 bytes of the tensor map are in the parameter space, as Triton passes
// them, and warp-specialised partitions use their addresses directly.
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit ptx -o /dev/null --metadata - | FileCheck %s --check-prefix=META
// RUN: not tessera compile %s --target sm_80 --emit ptx 2>&1 | FileCheck %s --check-prefix=SM80

// CHECK: .visible .entry k(
// CHECK-NEXT: .param .align 64 .b8 k_param_0[128],
// CHECK-NEXT: .param .u32 k_param_1,
// CHECK-NEXT: .param .u64 .ptr .global
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK-NOT: st.local

// How a launcher encodes the tensor map.
// META: "type": "tensordesc<f16[64, 64]>"
// META: "tensordesc_meta": [
// META-NEXT: {
// META-NEXT: "block_size": [
// META-NEXT: 64,
// META-NEXT: 64
// META-NEXT: ],
// META-NEXT: "elem_size": 2,
// META-NEXT: "elem_type": 6,
// META-NEXT: "fp4_padded": false,
// META-NEXT: "swizzle": 3
// META-NEXT: }
// META-NEXT: ],

// SM80: error: argument 0 of 'k' is the description of a tensor, and sm_80 has no bulk copies of tensors
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.barrier_expect %m, 8192, %true : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%n, %zero] %b, %m, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #plain, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %m, %zero : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.inval_barrier %m : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttg.warp_specialize(%d, %b)
    default {
      ttg.warp_yield
    }
    partition0(%pd: !tt.tensordesc<tensor<64x64xf16, #shared>>, %pb: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) num_warps(1) {
      %pzero = arith.constant 0 : i32
      %ptrue = arith.constant true
      %pm = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttng.init_barrier %pm, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttng.barrier_expect %pm, 8192, %ptrue : !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttng.async_tma_copy_global_to_local %pd[%pzero, %pzero] %pb, %pm, %ptrue : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #plain, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.wait_barrier %pm, %pzero : !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttng.inval_barrier %pm : !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttg.warp_return
    } : (!tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> ()
    tt.return
  }
}
