// Blocks instead of stages (see pipeline_blocks.h; docs/software_pipelining.md shows the result). In a loop whose
// threads compute with a dot's result before the next dot (attention), the matrix unit waits for them unless other
// blocks have dots for it: one more resident block helps more than one more stage. Fewer stages are taken, down to two,
// if more blocks fit for that, by shared memory and by what tensors hold of the registers. If still more fit with late
// loads, loads are late.
//
// Blocks of one or two warps give up stages for blocks in any loop with dots, until each scheduler has a warp.
//
// The reverse: a loop with one stage relies on other blocks to compute while one waits for its loads. Where registers
// leave room for hardly any (gradients of attention, or twice the requested warps), it gets two stages.
//
// Tensors that do not fit into registers are spilled; the addresses and indices of copies ahead would be spilled as
// well. Such a loop of attention is not pipelined by copies of threads, if there are many, and none gets a stage that
// was not requested.
#include "transforms/schedule/pipeline_blocks.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "transforms/analyses/register_pressure.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool needsDotOfIteration(Value v, const Block &body) {
  BodySlice slice;
  auto isNoDot = [](Operation *op) { return !op->is<ttng::WarpGroupDotOp>(); };
  return addToSlice(slice, body, {v}, Across::Nothing, isNoDot) != nullptr;
}

/// Whether an operand of a ttng.warp_group_dot is computed from another dot of the iteration.
bool hasChainOfDots(const Block &body) {
  return llvm::any_of(body, [&](Operation &op) {
    auto dot = op.dyn<ttng::WarpGroupDotOp>();
    return dot && (needsDotOfIteration(dot.a(), body) || needsDotOfIteration(dot.b(), body));
  });
}

/// The blocks of a multiprocessor that the tensors' registers, and as many as `ofOperands` for what dots read ahead,
/// leave room for, up to as many as overlap well.
int64_t blocksByHeldRegisters(scf::ForOp loop, const TargetInfo &target, int64_t ofOperands = 0) {
  auto function = loop->parentOfType<tt::FuncOp>();
  if (!function) return 1;
  int64_t needed = heldRegistersInLoops(function.op) + ofOperands + target.tuning.pipelineRegistersBesideDots;
  int64_t warps = numWarps(loop->module().op());
  int64_t most = llvm::divideCeil(target.tuning.pipelineOverlappingThreads, warps * target.warpSize);
  int64_t blocks = 1;
  while (blocks < most && needed <= target.registersPerThread((blocks + 1) * warps, RegisterSplit::Allocated)) ++blocks;
  return blocks;
}

/// Whether the buffer is read by dots alone, as their B operand, whose A operand is computed from another dot.
bool isReadLate(Value buffer, const Block &body) {
  return llvm::all_of(buffer.users(), [&](Operation *user) {
    if (user->is<ttg::MemdescTransOp>()) return isReadLate(user->result(), body);
    auto dot = user->dyn<ttng::WarpGroupDotOp>();
    return dot && dot->block() == &body && dot.a().type().isTensor() && needsDotOfIteration(dot.a(), body);
  });
}

/// Whether the body computes what the load needs by pure operations alone, so that each iteration can do so at its
/// start.
bool hasPlainAddress(const PipelinedLoad &a, const Block &body) {
  BodySlice slice;
  auto isPlain = [](Operation *op) { return isPure(op) && !op->numRegions(); };
  return llvm::all_of(a.op->operands(), [&](Value v) { return !addToSlice(slice, body, v, Across::Nothing, isPlain); });
}

/// Loads whose copies have time enough if the iteration that uses them issues them at its start: V of attention. None
/// if all could be late: the first dot needs a copy from before.
llvm::SmallVector<PipelinedLoad *, 2> possibleLateLoads(PipelinePlan &plan, const Block &body) {
  llvm::SmallVector<PipelinedLoad *, 2> late;
  for (auto &a : plan.loads) {
    if (a.isBulkCopy || !a.alloc || !a.conversions.empty() || !a.sameBuffers.empty()) return {};
    bool hasOneReader = !a.selectsOther && a.result().hasOneUse();
    if (hasOneReader && isReadLate(a.alloc.result(), body) && hasPlainAddress(a, body)) late.push_back(&a);
  }
  return late.size() < plan.loads.size() ? late : llvm::SmallVector<PipelinedLoad *, 2>();
}

/// Blocks of fewer warps than a multiprocessor has schedulers leave some of these idle, whatever they load ahead: fewer
/// stages if each scheduler has a warp for that, or as many blocks more as fit.
void giveSchedulersWarps(PipelinePlan &plan, scf::ForOp loop, const TargetInfo &target) {
  int64_t wanted = llvm::divideCeil(target.schedulersPerMultiprocessor, numWarps(loop->module().op()));
  auto blocks = [&](int64_t distance) {
    return target.blocksBySharedMemory(plan.bytesOfBuffers(distance + 1) + plan.otherBytes);
  };
  int64_t aim = std::min(wanted, blocks(1));
  for (; plan.distance > 1 && blocks(plan.distance) < aim; --plan.distance)
    plan.whyFewerStages = llvm::formatv("with fewer, {0} blocks fit on a multiprocessor", aim).str();
}

} // namespace

int64_t blocksThatFit(const PipelinePlan &plan, scf::ForOp loop, const TargetInfo &target, int64_t buffers,
                      int64_t ofOperands) {
  return std::min(blocksByHeldRegisters(loop, target, ofOperands),
                  target.blocksBySharedMemory(plan.bytesOfBuffers(buffers) + plan.otherBytes));
}

bool spillsAnyway(const PipelinePlan &plan, scf::ForOp loop, const TargetInfo &target) {
  auto function = loop->parentOfType<tt::FuncOp>();
  if (!function || loop->hasAttr(kNumStagesAttr) || !hasChainOfDots(*loop.body().front())) return false;
  int64_t warps = numWarps(loop->module().op());
  if (plan.bytesPerStage < target.tuning.pipelineSpilledCopyBytes * warps * target.warpSize) return false;
  return heldRegistersInLoops(function.op) > holdableRegisters(target, warps);
}

void leaveMemoryForBlocks(PipelinePlan &plan, scf::ForOp loop, const TargetInfo &target) {
  const Block &body = *loop.body().front();
  if (plan.tiles.loop || plan.distance < 1 || loop->hasAttr(kNumStagesAttr)) return;
  giveSchedulersWarps(plan, loop, target);
  if (!hasChainOfDots(body)) return;
  int64_t byRegisters = blocksByHeldRegisters(loop, target);
  auto blocks = [&](int64_t distance) {
    return std::min(byRegisters, target.blocksBySharedMemory(plan.bytesOfBuffers(distance + 1) + plan.otherBytes));
  };
  auto takeStagesFor = [&](int64_t aim) {
    for (; plan.distance > 1 && blocks(plan.distance) < aim; --plan.distance)
      plan.whyFewerStages = llvm::formatv("with fewer, {0} blocks fit on a multiprocessor", aim).str();
  };
  takeStagesFor(blocks(1));
  int64_t before = blocks(plan.distance);
  auto late = possibleLateLoads(plan, body);
  for (auto *a : late) a->isLate = true;
  if (blocks(1) > before) return takeStagesFor(blocks(1));
  for (auto *a : late) a->isLate = false;
}

bool waitsForLoads(scf::ForOp loop, const TargetInfo &target) {
  const Block &body = *loop.body().front();
  if (loop->hasAttr(kNumStagesAttr)) return false;
  if (llvm::none_of(body, [](Operation &op) { return op.is<ttng::WarpGroupDotOp>(); })) return false;
  int64_t warps = numWarps(loop->module().op());
  if (blocksByHeldRegisters(loop, target) * warps * target.warpSize > target.tuning.pipelineIdleThreads) return false;
  auto function = loop->parentOfType<tt::FuncOp>();
  return function && heldRegistersInLoops(function.op) <= holdableRegisters(target, warps);
}

bool keepsBlocks(const PipelinePlan &plan, scf::ForOp loop, const TargetInfo &target) {
  return target.blocksBySharedMemory(plan.bytesTaken() + plan.otherBytes) >= blocksByHeldRegisters(loop, target);
}

} // namespace tessera::transforms
