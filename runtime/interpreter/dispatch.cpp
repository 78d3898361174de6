// Which function evaluates an operation, or why none does (see program.h).
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "runtime/interpreter/elementwise.h"
#include "runtime/interpreter/program.h"

namespace tessera::runtime {
using namespace ir;

const char *whyNotInterpreted(Opcode o) {
  switch (o) {
  case Opcode::gpu_thread_id:
  case Opcode::rocdl_workitem_id_x:
  case Opcode::ttg_warp_id: return "it names a single thread or warp, and the interpreter evaluates whole blocks";
  case Opcode::amdg_local_load_packed_tranposed:
    return "its order of packed elements depends on the instruction that reads them";
  case Opcode::ttng_clc_get_program_id:
  case Opcode::ttng_clc_is_canceled:
  case Opcode::ttng_clc_load_result:
  case Opcode::ttng_clc_try_cancel: return "it queries the hardware for the next block to run";
  case Opcode::amdg_arrive_barrier:
  case Opcode::amdg_async_copy_local_to_global:
  case Opcode::amdg_async_copy_mbarrier_arrive:
  case Opcode::amdg_init_barrier:
  case Opcode::amdg_masked_load:
  case Opcode::amdg_masked_store:
  case Opcode::amdg_wait_barrier:
  case Opcode::ttng_async_copy_mbarrier_arrive:
  case Opcode::ttng_async_shared_store:
  case Opcode::ttng_tc_gen5_mma_scaled:
  case Opcode::ttng_tmem_copy: return "this version does not know what it does to memory";
  case Opcode::unregistered: return "it is of a dialect that is not known";
  default: return nullptr;
  }
}

bool Program::notInterpreted(Op op) {
  const char *why = whyNotInterpreted(op->opcode());
  return fail(op, "the interpreter cannot evaluate '" + op->name() + "': " + (why ? why : "it is not expected here"));
}

/// Whether nothing but the warps that wait at a barrier depends on an operation's result.
static bool choosesBarriersOnly(Operation *op) {
  for (Operation *user : op->result(0).users()) {
    if (user->is<amdg::CondBarrierOp>()) continue;
    if (!isPure(user) || user->numResults() != 1 || user->numRegions() || !choosesBarriersOnly(user)) return false;
  }
  return true;
}

// Table: opcodes and the functions that evaluate them. Exhaustive: a new opcode does not compile without its row.
bool Program::dispatch(Op op) {
  switch (op->opcode()) {
  case Opcode::arith_constant: return evaluateConstant(op);
  case Opcode::ub_poison: return setUndefined(op->result());

  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int:
  case Opcode::tt_bitcast:
  case Opcode::tt_fp_to_fp:
  case Opcode::tt_e2m1_to_fp:
  case Opcode::tt_clampf:
  case Opcode::tt_precise_sqrt:
  case Opcode::tt_precise_divf:
  case Opcode::tt_approx_divf:
  case Opcode::tt_mulhiui:
  case Opcode::tt_addptr:
  case Opcode::tt_extern_elementwise:
  case Opcode::tt_elementwise_inline_asm:
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
  case Opcode::arith_divf:
  case Opcode::arith_remf:
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
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp:
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui:
  case Opcode::arith_bitcast:
  case Opcode::arith_index_cast:
  case Opcode::arith_index_castui:
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence) case Opcode::math_##name:
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence) case Opcode::math_##name:
#include "ir/math_functions.def"
  case Opcode::math_absi:
  case Opcode::math_ctlz:
  case Opcode::math_cttz:
  case Opcode::math_ctpop:
  case Opcode::math_fma:
  case Opcode::math_fpowi: return evaluateElementwiseOp(op);

  // Control flow.
  case Opcode::tt_call: return evaluateCall(op->cast<tt::CallOp>());
  case Opcode::scf_for: return evaluateFor(op->cast<scf::ForOp>());
  case Opcode::scf_while: return evaluateWhile(op->cast<scf::WhileOp>());
  case Opcode::scf_if: return evaluateIf(op->cast<scf::IfOp>());
  case Opcode::scf_execute_region: return yieldFrom(op, op->region(0));
  case Opcode::tt_get_program_id:
    return set(op->result(), Lanes::one(4, uint32_t(id_[unsigned(op->cast<tt::GetProgramIdOp>().axis())])));
  case Opcode::tt_get_num_programs:
    return set(op->result(), Lanes::one(4, uint32_t(run_.grid[unsigned(op->cast<tt::GetNumProgramsOp>().axis())])));
  case Opcode::gpu_block_id: {
    Type t = op->result().type();
    return set(op->result(), Lanes::one(laneBytes(t), zeroExtend(id_[unsigned(op->cast<gpu::BlockIdOp>().dimension())],
                                                                 t.bitWidth())));
  }
  case Opcode::tt_print: return evaluatePrint(op->cast<tt::PrintOp>());
  case Opcode::tt_assert:
    return evaluateAssert(op, op->cast<tt::AssertOp>().condition(), op->cast<tt::AssertOp>().message());
  case Opcode::cf_assert:
    return evaluateAssert(op, op->cast<cf::AssertOp>().condition(), op->cast<cf::AssertOp>().msg());
  case Opcode::llvm_intr_assume:
    return flag(op->cast<llvm_dialect::IntrAssumeOp>().condition()) || fail(op, "an assumption does not hold");
  case Opcode::builtin_unrealized_conversion_cast:
    if (op->numOperands() != op->numResults())
      return fail(op, "the interpreter cannot evaluate a cast of " + llvm::Twine(op->numOperands()) + " values to " +
                          llvm::Twine(op->numResults()));
    for (unsigned i = 0; i < op->numResults(); ++i) {
      Type from = op->operand(i).type(), to = op->result(i).type();
      bool same = from == to ||
                  (from.isTensor() && to.isTensor() &&
                   from.cast<TensorType>().shape() == to.cast<TensorType>().shape() && from.scalar() == to.scalar());
      if (!same) return fail(op, "the interpreter cannot evaluate a cast of " + from.str() + " to " + to.str());
      pass(op->operand(i), op->result(i));
    }
    return true;

  // Tensors.
  case Opcode::tt_splat:
    return set(op->result(), repeat(pool_, lanes(op->cast<tt::SplatOp>().src()),
                                    op->result().type().cast<TensorType>().numElements()));
  case Opcode::tt_unsplat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape: // in row-major order, which allow_reorder allows too
  case Opcode::ttg_convert_layout:
  case Opcode::amdg_in_thread_transpose: return pass(UnaryOp(op).value(), op->result());
  case Opcode::tt_broadcast: return broadcast(op->cast<tt::BroadcastOp>());
  case Opcode::tt_trans: return transpose(op->cast<tt::TransOp>());
  case Opcode::tt_cat: return cat(op->cast<tt::CatOp>());
  case Opcode::tt_join: return join(op->cast<tt::JoinOp>());
  case Opcode::tt_split: return split(op->cast<tt::SplitOp>());
  case Opcode::tt_gather: return gather(op->cast<tt::GatherOp>());
  case Opcode::tt_histogram: return histogram(op->cast<tt::HistogramOp>());
  case Opcode::tt_make_range: return makeRange(op->cast<tt::MakeRangeOp>());
  case Opcode::tt_reduce: return reduce(op->cast<tt::ReduceOp>());
  case Opcode::tt_scan: return scan(op->cast<tt::ScanOp>());
  case Opcode::tt_map_elementwise: return mapElementwise(op->cast<tt::MapElementwiseOp>());
  case Opcode::tt_dot: {
    auto d = op->cast<tt::DotOp>();
    Lanes out;
    return dot(op, d.a().type(), lanes(d.a()), d.b().type(), lanes(d.b()), d.c().type(), lanes(d.c()),
               d.inputPrecision(), out) &&
           set(op->result(), std::move(out));
  }
  case Opcode::tt_dot_scaled: return dotScaled(op->cast<tt::DotScaledOp>());
  case Opcode::ttg_fp4_to_fp: return fp4ToFp(op->cast<ttg::Fp4ToFpOp>());
  case Opcode::amdg_scaled_upcast_fp8: return scaledUpcast(op->cast<amdg::ScaledUpcastFp8Op>());
  case Opcode::amdg_scaled_upcast_fp4: return scaledUpcast(op->cast<amdg::ScaledUpcastFp4Op>());
  case Opcode::amdg_upcast_mxfp: return scaledUpcast(op->cast<amdg::UpcastMxfpOp>());
  case Opcode::amdg_extract_slice: return extractSlice(op->cast<amdg::ExtractSliceOp>());
  case Opcode::amdg_concat: return concat(op->cast<amdg::ConcatOp>());

  // Global memory.
  case Opcode::tt_load: return load(op->cast<tt::LoadOp>());
  case Opcode::tt_store: return store(op->cast<tt::StoreOp>());
  case Opcode::tt_atomic_rmw: return atomicRmw(op->cast<tt::AtomicRmwOp>());
  case Opcode::tt_atomic_cas: return atomicCas(op->cast<tt::AtomicCasOp>());
  case Opcode::tt_atomic_load: return atomicLoad(op->cast<tt::AtomicLoadOp>());
  case Opcode::tt_atomic_store: {
    auto s = op->cast<tt::AtomicStoreOp>();
    return writeLanes(op, pointeeOf(s.ptr()), lanes(s.ptr()), s.mask() ? &lanes(s.mask()) : nullptr, lanes(s.value()));
  }
  case Opcode::tt_atomic_poll: return atomicPoll(op->cast<tt::AtomicPollOp>());
  case Opcode::tt_make_tensor_ptr: return makeBlockPointer(op->cast<tt::MakeTensorPtrOp>());
  case Opcode::tt_advance: return advance(op->cast<tt::AdvanceOp>());
  case Opcode::tt_make_tensor_descriptor: return makeDescriptor(op->cast<tt::MakeTensorDescriptorOp>());
  case Opcode::tt_descriptor_load: {
    auto d = op->cast<tt::DescriptorLoadOp>();
    Lanes out;
    return descriptorLoad(op, d.desc(), d.indices(), out) && set(op->result(), std::move(out));
  }
  case Opcode::tt_descriptor_store: {
    auto d = op->cast<tt::DescriptorStoreOp>();
    return descriptorStore(op, d.desc(), d.indices(), lanes(d.src()));
  }
  case Opcode::tt_descriptor_reduce: {
    auto d = op->cast<tt::DescriptorReduceOp>();
    return descriptorReduce(op, d.desc(), d.indices(), d.kind(), lanes(d.src()));
  }
  case Opcode::tt_descriptor_gather: {
    auto d = op->cast<tt::DescriptorGatherOp>();
    Lanes out;
    return gatherRows(op, d.desc(), d.xOffsets(), d.yOffset(), d.result().type(), out) &&
           set(op->result(), std::move(out));
  }
  case Opcode::tt_descriptor_scatter: {
    auto d = op->cast<tt::DescriptorScatterOp>();
    return scatterRows(op, d.desc(), d.xOffsets(), d.yOffset(), d.src().type(), lanes(d.src()));
  }
  case Opcode::amdg_buffer_load: return bufferLoad(op->cast<amdg::BufferLoadOp>());
  case Opcode::amdg_buffer_store: return bufferStore(op->cast<amdg::BufferStoreOp>());
  case Opcode::amdg_buffer_atomic_cas: return bufferCas(op->cast<amdg::BufferAtomicCasOp>());
  case Opcode::amdg_buffer_atomic_rmw: return bufferAtomic(op->cast<amdg::BufferAtomicRmwOp>());
  case Opcode::ttg_global_scratch_alloc: return scratch(op->cast<ttg::GlobalScratchAllocOp>());
  case Opcode::ttng_tensormap_create: return tensormapCreate(op->cast<ttng::TensormapCreateOp>());
  case Opcode::ttng_reinterpret_tensor_descriptor:
    return reinterpretDescriptor(op->cast<ttng::ReinterpretTensorDescriptorOp>());

  // Shared and tensor memory.
  case Opcode::ttg_local_alloc:
    return localAlloc(op, op->cast<ttg::LocalAllocOp>().src(), op->cast<ttg::LocalAllocOp>().result());
  case Opcode::ttng_tmem_alloc: {
    auto t = op->cast<ttng::TmemAllocOp>();
    return localAlloc(op, t.src(), t.result()) && (!t.token() || set(t.token(), Lanes()));
  }
  case Opcode::ttg_local_dealloc: view(op->cast<ttg::LocalDeallocOp>().src()).buffer->freed = true; return true;
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret:
  case Opcode::ttng_tmem_subslice: return viewOp(op);
  case Opcode::ttg_local_load: {
    auto l = op->cast<ttg::LocalLoadOp>();
    return checkLive(op, l.src()) && set(op->result(), readView(l.src()));
  }
  case Opcode::ttng_tmem_load: {
    auto l = op->cast<ttng::TmemLoadOp>();
    return checkLive(op, l.src()) && set(l.result(), readView(l.src())) && (!l.token() || set(l.token(), Lanes()));
  }
  case Opcode::ttg_local_store: {
    auto s = op->cast<ttg::LocalStoreOp>();
    return writeView(op, s.dst(), lanes(s.src()));
  }
  case Opcode::ttng_tmem_store: return tmemStore(op->cast<ttng::TmemStoreOp>());
  case Opcode::ttg_local_gather: return localGather(op->cast<ttg::LocalGatherOp>());
  case Opcode::ttg_local_scatter: return localScatter(op->cast<ttg::LocalScatterOp>());
  case Opcode::ttg_local_atomic_scatter_rmw: return localAtomic(op->cast<ttg::LocalAtomicScatterRmwOp>());
  case Opcode::ttg_async_copy_global_to_local: {
    auto c = op->cast<ttg::AsyncCopyGlobalToLocalOp>();
    return asyncCopy(op, pointeeOf(c.src()), lanes(c.src()), c.mask(), c.other(), c.result()) &&
           set(c.token(), Lanes());
  }
  case Opcode::amdg_buffer_load_to_local: {
    auto c = op->cast<amdg::BufferLoadToLocalOp>();
    return asyncCopy(op, pointeeOf(c.ptr()), bufferAddresses(c.ptr(), c.offsets()), c.mask(), c.other(), c.dest()) &&
           set(c.token(), Lanes());
  }
  case Opcode::ttg_predicate_stage: {
    // Whether iteration iv + stage of the unpipelined loop exists: iv < ub - (maxStage - stage) * step.
    auto s = op->cast<ttg::PredicateStageOp>();
    Int128 bound = Int128(integer(s.ub())) - Int128(s.maxStage() - s.stage()) * integer(s.step());
    return set(op->result(), Lanes::one(1, integer(s.iv()) < bound));
  }
  case Opcode::ttg_mask: return evaluateMask(op->cast<ttg::MaskOp>());
  case Opcode::ttng_warp_group_dot: return warpGroupDot(op->cast<ttng::WarpGroupDotOp>());
  case Opcode::ttng_warp_group_dot_wait:
    for (unsigned i = 0; i < op->numOperands(); ++i) pass(op->operand(i), op->result(i));
    return true;
  case Opcode::ttng_tc_gen5_mma: return tensorCoreDot(op->cast<ttng::TcGen5MmaOp>());
  case Opcode::ttng_tc_gen5_commit: {
    auto c = op->cast<ttng::TcGen5CommitOp>();
    if (!c.pred() || flag(c.pred())) arrive(c.barrier(), 1);
    return true;
  }
  case Opcode::ttng_async_tma_copy_global_to_local: return tmaLoad(op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>());
  case Opcode::ttng_async_tma_copy_local_to_global: {
    auto c = op->cast<ttng::AsyncTmaCopyLocalToGlobalOp>();
    return checkLive(op, c.src()) && descriptorStore(op, c.desc(), c.coord(), readView(c.src()));
  }
  case Opcode::ttng_async_tma_gather: return tmaGather(op->cast<ttng::AsyncTmaGatherOp>());
  case Opcode::ttng_async_tma_scatter: {
    auto c = op->cast<ttng::AsyncTmaScatterOp>();
    return checkLive(op, c.src()) &&
           scatterRows(op, c.desc(), c.xOffsets(), c.yOffset(), c.src().type(), readView(c.src()));
  }
  case Opcode::ttng_async_tma_reduce: {
    auto c = op->cast<ttng::AsyncTmaReduceOp>();
    return checkLive(op, c.src()) && descriptorReduce(op, c.desc(), c.coord(), c.kind(), readView(c.src()));
  }
  case Opcode::ttng_init_barrier: {
    auto b = op->cast<ttng::InitBarrierOp>();
    barrier(b.alloc()) = {b.count(), b.count(), 0, false};
    return true;
  }
  case Opcode::ttng_inval_barrier: {
    const SharedView &v = view(op->cast<ttng::InvalBarrierOp>().alloc());
    for (uint32_t i : v.at) v.buffer->barriers.erase(i);
    return true;
  }
  case Opcode::ttng_barrier_expect: {
    auto b = op->cast<ttng::BarrierExpectOp>();
    if (!flag(b.pred())) return true;
    barrier(b.alloc()).bytes += b.size();
    arrive(b.alloc(), 1);
    return true;
  }
  case Opcode::ttng_arrive_barrier: {
    auto b = op->cast<ttng::ArriveBarrierOp>();
    int64_t warps = b->hasAttr(kEachWarpArrivesAttr) ? numWarpsAt(b.op) : 1;
    if (!b.pred() || flag(b.pred())) arrive(b.alloc(), b.count() * warps);
    return true;
  }
  case Opcode::ttg_warp_specialize: return warpSpecialize(op->cast<ttg::WarpSpecializeOp>());
  case Opcode::ttng_wait_barrier: return waitBarrier(op->cast<ttng::WaitBarrierOp>());

  // Everything has happened already when these run.
  case Opcode::ttg_async_wait:
  case Opcode::ttg_async_commit_group:
  case Opcode::amdg_async_wait: return set(op->result(), Lanes());
  case Opcode::gpu_barrier:
  case Opcode::ttg_barrier:
  case Opcode::ttg_local_barrier:
  case Opcode::ttng_fence_async_shared:
  case Opcode::ttng_async_tma_store_wait:
  case Opcode::ttng_tensormap_fenceproxy_acquire:
  case Opcode::ttng_cluster_arrive:
  case Opcode::ttng_cluster_wait:
  case Opcode::ttng_cluster_barrier:
  case Opcode::ttng_fence_mbarrier_init_release_cluster:
  case Opcode::amdg_cluster_barrier_arrive:
  case Opcode::amdg_cluster_barrier_wait:
  case Opcode::amdg_cond_barrier:
  case Opcode::rocdl_sched_barrier:
  case Opcode::rocdl_s_setprio:
  case Opcode::rocdl_barrier:
  case Opcode::rocdl_s_barrier: return true;
  case Opcode::rocdl_workitem_id_x:
    return choosesBarriersOnly(op) ? set(op->result(), undefinedLanes(pool_, op->result(0).type(), 1, true))
                                   : notInterpreted(op);

  // Evaluated by what holds them, or not at all (whyNotInterpreted).
  case Opcode::builtin_module:
  case Opcode::tt_func:
  case Opcode::tt_return:
  case Opcode::tt_reduce_return:
  case Opcode::tt_scan_return:
  case Opcode::tt_map_elementwise_return:
  case Opcode::scf_condition:
  case Opcode::scf_yield:
  case Opcode::cf_br:
  case Opcode::cf_cond_br:
  case Opcode::ttg_mask_return:
  case Opcode::gpu_thread_id:
  case Opcode::ttg_warp_id:
  case Opcode::ttg_warp_specialize_partitions:
  case Opcode::ttg_warp_yield:
  case Opcode::ttg_warp_return:
  case Opcode::amdg_local_load_packed_tranposed:
  case Opcode::amdg_arrive_barrier:
  case Opcode::amdg_async_copy_local_to_global:
  case Opcode::amdg_async_copy_mbarrier_arrive:
  case Opcode::amdg_init_barrier:
  case Opcode::amdg_masked_load:
  case Opcode::amdg_masked_store:
  case Opcode::amdg_wait_barrier:
  case Opcode::ttng_async_copy_mbarrier_arrive:
  case Opcode::ttng_async_shared_store:
  case Opcode::ttng_clc_get_program_id:
  case Opcode::ttng_clc_is_canceled:
  case Opcode::ttng_clc_load_result:
  case Opcode::ttng_clc_try_cancel:
  case Opcode::ttng_tc_gen5_mma_scaled:
  case Opcode::ttng_tmem_copy:
  case Opcode::unregistered: return notInterpreted(op);
  }
  return notInterpreted(op);
}

} // namespace tessera::runtime
