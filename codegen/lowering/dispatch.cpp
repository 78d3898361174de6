// The dispatch table of the lowering: which family of operations lowers an opcode, or why none does. Used by
// FunctionLowering::lowerOperation.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/scaled_dot.h"

namespace tessera::codegen {
using namespace ir;

namespace {
struct Row {
  LowerFn lower;
  const char *reason;
  bool (*servedBy)(const TargetInfo &) = nullptr; // null: by all targets
};
// What targets need for operations that not all of them serve.
bool isAmd(const TargetInfo &t) { return t.vendor == Vendor::Amd; }
bool hasScaledMatrices(const TargetInfo &t) { return !t.scaledMatrixInstructions.empty(); }
bool hasWgmma(const TargetInfo &t) { return t.matrixUnit == MatrixUnit::Wgmma; }
bool hasTensorMemory(const TargetInfo &t) { return t.matrixUnit == MatrixUnit::Tcgen05; }
bool hasTensorCopy(const TargetInfo &t) { return t.hasTensorCopy; }
bool hasNamedBarriers(const TargetInfo &t) { return t.namedBarriers > 0; }

constexpr const char *kTerminatorReason = "a terminator, lowered with its region",
                     *kRewrittenReason = "rewritten into other operations before lowering",
                     *kMatrixReason = "a matrix or asynchronous operation that the lowering does not know",
                     *kUnknownReason = "an operation that the lowering does not know and that no pass makes";

/// Exhaustive: a new row of the op table does not compile until it has its place here.
Row rowOf(Opcode opcode) {
  switch (opcode) {
  // pointwise
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int:
  case Opcode::tt_bitcast:
  case Opcode::tt_mulhiui:
  case Opcode::tt_addptr:
  case Opcode::arith_constant:
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli:
  case Opcode::arith_shli:
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori:
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minsi:
  case Opcode::arith_minui:
  case Opcode::arith_subf:
  case Opcode::arith_addf:
  case Opcode::arith_mulf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf:
  case Opcode::arith_negf:
  case Opcode::arith_addui_extended:
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended:
  case Opcode::arith_cmpi:
  case Opcode::arith_cmpf:
  case Opcode::arith_select:
  case Opcode::arith_extsi:
  case Opcode::arith_extui:
  case Opcode::arith_trunci:
  case Opcode::arith_bitcast:
  case Opcode::arith_index_cast:
  case Opcode::arith_index_castui:
  case Opcode::math_absi:
  case Opcode::math_ctlz:
  case Opcode::math_cttz:
  case Opcode::math_ctpop:
  case Opcode::ub_poison: return {lowerPointwise, nullptr};

  // conversions
  case Opcode::tt_fp_to_fp:
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp:
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui: return {lowerCast, nullptr};
  case Opcode::tt_e2m1_to_fp: return {lowerE2m1ToFp, nullptr};
  case Opcode::ttg_fp4_to_fp: return {lowerFp4ToFp, nullptr};

  // mathematics
  case Opcode::tt_clampf:
  case Opcode::tt_precise_sqrt:
  case Opcode::tt_precise_divf:
  case Opcode::tt_approx_divf:
  case Opcode::tt_extern_elementwise:
  case Opcode::arith_divf:
  case Opcode::arith_remf:
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence) case Opcode::math_##name:
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence) case Opcode::math_##name:
#include "ir/math_functions.def"
  case Opcode::math_fma:
  case Opcode::math_fpowi: return {lowerMath, nullptr};

  // memory
  case Opcode::tt_load:
  case Opcode::tt_store: return {lowerMemory, nullptr};
  case Opcode::amdg_buffer_load:
  case Opcode::amdg_buffer_store: return {lowerMemory, nullptr, isAmd};
  case Opcode::tt_atomic_rmw:
  case Opcode::tt_atomic_cas:
  case Opcode::tt_atomic_load:
  case Opcode::tt_atomic_store:
  case Opcode::tt_atomic_poll: return {lowerAtomic, nullptr};
  case Opcode::amdg_buffer_atomic_rmw:
  case Opcode::amdg_buffer_atomic_cas: return {lowerAtomic, nullptr, isAmd};

  // shape
  case Opcode::tt_splat:
  case Opcode::tt_unsplat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape:
  case Opcode::tt_broadcast:
  case Opcode::tt_cat:
  case Opcode::tt_join:
  case Opcode::tt_split:
  case Opcode::tt_trans:
  case Opcode::tt_make_range: return {lowerShape, nullptr};

  // across threads
  case Opcode::tt_reduce: return {lowerReduce, nullptr};
  case Opcode::tt_scan: return {lowerScan, nullptr};
  case Opcode::ttg_convert_layout: return {lowerConvertLayout, nullptr};
  case Opcode::amdg_in_thread_transpose: return {lowerInThreadTranspose, nullptr};
  case Opcode::tt_dot: return {lowerDot, nullptr};
  case Opcode::tt_dot_scaled: return {lowerScaledDot, nullptr, hasScaledMatrices};
  case Opcode::ttng_fence_async_shared: return {lowerWarpGroup, nullptr, hasTensorCopy}; // others have one proxy
  case Opcode::ttng_warp_group_dot:
  case Opcode::ttng_warp_group_dot_wait: return {lowerWarpGroup, nullptr, hasWgmma};
  case Opcode::ttng_tmem_alloc:
  case Opcode::ttng_tmem_load:
  case Opcode::ttng_tmem_store:
  case Opcode::ttng_tmem_subslice:
  case Opcode::ttng_tc_gen5_mma:
  case Opcode::ttng_tc_gen5_commit: return {lowerTensorMemory, nullptr, hasTensorMemory};
  case Opcode::ttg_async_wait:
  case Opcode::ttg_async_commit_group:
  case Opcode::ttg_async_copy_global_to_local: return {lowerAsyncCopy, nullptr};
  case Opcode::amdg_buffer_load_to_local: return {lowerAsyncCopy, nullptr, isAmd};
  case Opcode::ttng_init_barrier:
  case Opcode::ttng_inval_barrier:
  case Opcode::ttng_barrier_expect:
  case Opcode::ttng_wait_barrier:
  case Opcode::ttng_arrive_barrier:
  case Opcode::ttng_async_tma_copy_global_to_local:
  case Opcode::ttng_async_tma_copy_local_to_global:
  case Opcode::ttng_async_tma_reduce:
  case Opcode::ttng_async_tma_store_wait:
  case Opcode::ttng_tensormap_create:
  case Opcode::ttng_tensormap_fenceproxy_acquire:
  case Opcode::ttng_reinterpret_tensor_descriptor: return {lowerTensorCopy, nullptr, hasTensorCopy};
  case Opcode::tt_gather:
  case Opcode::tt_histogram: return {lowerGatherLike, nullptr};
  case Opcode::ttg_local_alloc:
  case Opcode::ttg_local_dealloc:
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret:
  case Opcode::ttg_local_load:
  case Opcode::ttg_local_store:
  case Opcode::ttg_local_gather:
  case Opcode::ttg_local_atomic_scatter_rmw:
  case Opcode::ttg_local_scatter: return {lowerShared, nullptr};

  // control
  case Opcode::tt_call:
  case Opcode::tt_get_program_id:
  case Opcode::tt_get_num_programs:
  case Opcode::tt_print:
  case Opcode::tt_assert:
  case Opcode::tt_map_elementwise:
  case Opcode::scf_for:
  case Opcode::scf_if:
  case Opcode::scf_while:
  case Opcode::scf_execute_region:
  case Opcode::cf_assert:
  case Opcode::llvm_intr_assume:
  case Opcode::gpu_barrier:
  case Opcode::gpu_thread_id:
  case Opcode::gpu_block_id:
  case Opcode::ttg_barrier:
  case Opcode::ttg_local_barrier:
  case Opcode::ttg_warp_id:
  case Opcode::ttg_global_scratch_alloc:
  case Opcode::builtin_unrealized_conversion_cast: return {lowerControl, nullptr};
  case Opcode::amdg_cond_barrier:
  case Opcode::rocdl_barrier:
  case Opcode::rocdl_s_barrier:
  case Opcode::rocdl_workitem_id_x:
  case Opcode::rocdl_sched_barrier:
  case Opcode::rocdl_s_setprio: return {lowerControl, nullptr, isAmd};
  case Opcode::ttg_warp_specialize: return {lowerWarpSpecialize, nullptr, hasNamedBarriers};
  case Opcode::tt_elementwise_inline_asm: return {lowerInlineAssembly, nullptr};

  // Never reach the lowering.
  case Opcode::builtin_module:
  case Opcode::tt_func: return {nullptr, "a container, walked by the lowering of the module"};
  case Opcode::tt_return:
  case Opcode::tt_reduce_return:
  case Opcode::tt_scan_return:
  case Opcode::tt_map_elementwise_return:
  case Opcode::scf_condition:
  case Opcode::scf_yield:
  case Opcode::cf_br:
  case Opcode::cf_cond_br:
  case Opcode::ttg_warp_yield:
  case Opcode::ttg_warp_return:
  case Opcode::ttg_mask_return: return {nullptr, kTerminatorReason};
  case Opcode::tt_advance:
  case Opcode::tt_make_tensor_ptr: return {nullptr, "a block pointer, rewritten by tritongpu-rewrite-tensor-pointer"};
  case Opcode::tt_make_tensor_descriptor:
  case Opcode::tt_descriptor_load:
  case Opcode::tt_descriptor_store:
  case Opcode::tt_descriptor_reduce:
  case Opcode::tt_descriptor_gather:
  case Opcode::tt_descriptor_scatter: return {nullptr, kRewrittenReason};
  case Opcode::ttg_predicate_stage:
  case Opcode::ttg_mask: return {nullptr, "an intermediate form of the pipeliner"};
  case Opcode::ttng_cluster_arrive:
  case Opcode::ttng_cluster_wait:
  case Opcode::amdg_local_load_packed_tranposed:
  case Opcode::amdg_async_wait:
  case Opcode::amdg_arrive_barrier:
  case Opcode::amdg_async_copy_local_to_global:
  case Opcode::amdg_async_copy_mbarrier_arrive:
  case Opcode::amdg_cluster_barrier_arrive:
  case Opcode::amdg_cluster_barrier_wait:
  case Opcode::amdg_init_barrier:
  case Opcode::amdg_wait_barrier:
  case Opcode::ttng_async_copy_mbarrier_arrive:
  case Opcode::ttng_async_shared_store:
  case Opcode::ttng_clc_get_program_id:
  case Opcode::ttng_clc_is_canceled:
  case Opcode::ttng_clc_load_result:
  case Opcode::ttng_clc_try_cancel:
  case Opcode::ttng_cluster_barrier:
  case Opcode::ttng_fence_mbarrier_init_release_cluster:
  case Opcode::ttng_tc_gen5_mma_scaled:
  case Opcode::ttng_tmem_copy: return {nullptr, kMatrixReason};
  case Opcode::ttng_async_tma_gather:
  case Opcode::ttng_async_tma_scatter:
    return {nullptr, "a copy of rows by instructions of sm_100 and later, which the lowering does not know"};
  case Opcode::amdg_scaled_upcast_fp8:
  case Opcode::amdg_scaled_upcast_fp4:
  case Opcode::amdg_upcast_mxfp: return {nullptr, "rewritten by decompose-scaled-upcast"};
  case Opcode::amdg_extract_slice:
  case Opcode::amdg_concat: return {nullptr, kUnknownReason};
  case Opcode::amdg_masked_load:
  case Opcode::amdg_masked_store: return {nullptr, "an access of one thread, which only a lowering makes"};
  case Opcode::ttg_warp_specialize_partitions: return {nullptr, "a container, lowered with its ttg.warp_specialize"};
  case Opcode::unregistered: return {nullptr, "an operation of an unknown dialect"};
  }
  return {nullptr, "unknown"};
}
} // namespace

LowerFn loweringOf(Opcode opcode) { return rowOf(opcode).lower; }
bool isLoweredFor(Opcode opcode, const TargetInfo &target) {
  Row row = rowOf(opcode);
  return row.lower && (!row.servedBy || row.servedBy(target));
}
llvm::StringRef whyNotLowered(Opcode opcode) {
  const char *r = rowOf(opcode).reason;
  return r ? r : "";
}

} // namespace tessera::codegen
