// The table of shared_effects.h.
#include "transforms/memory/shared_effects.h"

namespace tessera::transforms {
using namespace ir;

SharedEffects::Buffers operandsInSharedMemory(Operation *op) {
  auto dot = op->cast<ttng::WarpGroupDotOp>();
  SharedEffects::Buffers buffers;
  for (Value v : {dot.a(), dot.b()})
    if (v.type().isa<MemDescType>()) buffers.push_back(v);
  return buffers;
}

namespace {

using Buffers = SharedEffects::Buffers;
template <class OpT, Value (OpT::*operand)() const> Buffers buffer(Operation *op) {
  return {(op->cast<OpT>().*operand)()};
}
Buffers initialisedBuffer(Operation *op) { return op->numOperands() ? Buffers{op->result()} : Buffers{}; }
Buffers initialisedTensorMemory(Operation *op) {
  auto alloc = op->cast<ttng::TmemAllocOp>();
  return alloc.src() ? Buffers{alloc.result()} : Buffers{};
}
Buffers operandsOfMma(Operation *op) {
  auto mma = op->cast<ttng::TcGen5MmaOp>();
  return {mma.a(), mma.b()};
}
Buffers barriersOfMma(Operation *op) {
  auto barriers = op->cast<ttng::TcGen5MmaOp>().barriers();
  return Buffers(barriers.begin(), barriers.end());
}
bool isAsyncDot(Operation *op) { return op->cast<ttng::WarpGroupDotOp>().isAsync(); }
bool always(Operation *) { return true; }
bool leavesNoCopies(Operation *op) { return op->cast<ttg::AsyncWaitOp>().num() == 0; }
bool leavesNoDots(Operation *op) { return op->cast<ttng::WarpGroupDotWaitOp>().pendings() == 0; }
bool leavesNoStores(Operation *op) { return op->cast<ttng::AsyncTmaStoreWaitOp>().pendings() == 0; }

// clang-format off
const SharedEffects kSharedEffects[] = {
  {.opcode = Opcode::ttg_local_alloc, .writes = initialisedBuffer},
  {.opcode = Opcode::ttg_local_dealloc},
  // Rule 4: asynchronous copies.
  {.opcode = Opcode::ttg_async_copy_global_to_local,
   .copiesTo = buffer<ttg::AsyncCopyGlobalToLocalOp, &ttg::AsyncCopyGlobalToLocalOp::result>,
   .startsPending = &AccessState::pendingCopies, .startsPendingIf = always},
  {.opcode = Opcode::amdg_buffer_load_to_local,
   .copiesTo = buffer<amdg::BufferLoadToLocalOp, &amdg::BufferLoadToLocalOp::dest>,
   .startsPending = &AccessState::pendingCopies, .startsPendingIf = always},
  {.opcode = Opcode::ttg_async_commit_group},
  {.opcode = Opcode::ttg_async_wait,
   .waitsFor = &AccessState::pendingCopies, .waitedAs = &AccessState::writes, .waitsForAll = leavesNoCopies},
  // Rule 5: asynchronous dots.
  {.opcode = Opcode::ttng_warp_group_dot, .reads = operandsInSharedMemory,
   .startsPending = &AccessState::pendingDots, .startsPendingIf = isAsyncDot},
  {.opcode = Opcode::ttng_warp_group_dot_wait,
   .waitsFor = &AccessState::pendingDots, .waitedAs = &AccessState::reads, .waitsForAll = leavesNoDots},
  // Rule 6: bulk copies of tensors.
  {.opcode = Opcode::ttng_async_tma_copy_global_to_local,
   .reads = buffer<ttng::AsyncTmaCopyGlobalToLocalOp, &ttng::AsyncTmaCopyGlobalToLocalOp::barrier>,
   .copiesTo = buffer<ttng::AsyncTmaCopyGlobalToLocalOp, &ttng::AsyncTmaCopyGlobalToLocalOp::result>,
   .throughAsyncProxy = true},
  {.opcode = Opcode::ttng_async_tma_copy_local_to_global,
   .reads = buffer<ttng::AsyncTmaCopyLocalToGlobalOp, &ttng::AsyncTmaCopyLocalToGlobalOp::src>,
   .throughAsyncProxy = true,
   .startsPending = &AccessState::pendingStores, .startsPendingIf = always},
  {.opcode = Opcode::ttng_async_tma_reduce,
   .reads = buffer<ttng::AsyncTmaReduceOp, &ttng::AsyncTmaReduceOp::src>,
   .throughAsyncProxy = true,
   .startsPending = &AccessState::pendingStores, .startsPendingIf = always},
  {.opcode = Opcode::ttng_async_tma_store_wait,
   .waitsFor = &AccessState::pendingStores, .waitedAs = &AccessState::reads, .waitsForAll = leavesNoStores},
  // Rule 12: dots in tensor memory.
  {.opcode = Opcode::ttng_tmem_alloc, .writes = initialisedTensorMemory},
  {.opcode = Opcode::ttng_tc_gen5_mma,
   .copiesTo = buffer<ttng::TcGen5MmaOp, &ttng::TcGen5MmaOp::d>,
   .readsLater = operandsOfMma, .arrivesAt = barriersOfMma},
  {.opcode = Opcode::ttng_tc_gen5_commit, .arrivesAt = buffer<ttng::TcGen5CommitOp, &ttng::TcGen5CommitOp::barrier>},
  // Barriers in shared memory (mbarrier).
  {.opcode = Opcode::ttng_init_barrier, .writes = buffer<ttng::InitBarrierOp, &ttng::InitBarrierOp::alloc>},
  {.opcode = Opcode::ttng_inval_barrier, .writes = buffer<ttng::InvalBarrierOp, &ttng::InvalBarrierOp::alloc>},
  {.opcode = Opcode::ttng_barrier_expect, .reads = buffer<ttng::BarrierExpectOp, &ttng::BarrierExpectOp::alloc>},
  {.opcode = Opcode::ttng_wait_barrier, .reads = buffer<ttng::WaitBarrierOp, &ttng::WaitBarrierOp::alloc>},
};
// clang-format on

} // namespace

const SharedEffects *sharedEffectsOf(Opcode opcode) {
  for (auto &row : kSharedEffects)
    if (row.opcode == opcode) return &row;
  return nullptr;
}

} // namespace tessera::transforms
