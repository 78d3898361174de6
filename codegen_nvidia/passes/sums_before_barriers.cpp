// Operations of two values that nothing else uses leave one register where there were two. They come before the next
// barrier.
//
//   barrier; load %a0, %a1        barrier; load %a0, %a1; %a = %a0 + %a1
//   barrier; load %b0, %b1        barrier; load %b0, %b1; %s = %a + %b0; %t = %s + %b1
//   %a = %a0 + %a1
//   %s = %a + %b0; %t = %s + %b1
//
// LLVM's Reassociate makes one chain of the sums of integers that several reductions of a block end in, where the last
// of them is. The partial results of all warps and reductions are alive until then, and ptxas moves nothing over a
// barrier: 64 sums of integers by four warps took 255 registers of a thread instead of 64.
#include "codegen_nvidia/passes/sums_before_barriers.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

/// Exchanges of registers between lanes (shuffles) access no memory that others see; ptxas moves code over them.
bool isBarrier(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  return call && call->isConvergent() && call->mayWriteToMemory() && !call->onlyAccessesInaccessibleMemory();
}

bool runOnBlock(BasicBlock &block) {
  SmallVector<Instruction *> barriers;                 // in their order
  DenseMap<const Instruction *, size_t> barriersAhead; // of instructions of the block: how many come before them
  bool changed = false;
  for (Instruction &i : make_early_inc_range(block)) {
    size_t ahead = barriers.size();
    if (isBarrier(i)) {
      barriers.push_back(&i);
      ++ahead;                                                               // what it returns comes after it
    } else if (isa<BinaryOperator>(i) && isSafeToSpeculativelyExecute(&i)) { // a call may not return
      size_t needed = 0;
      bool frees = all_of(i.operands(), [&](Value *v) {
        auto operand = barriersAhead.find(dyn_cast<Instruction>(v));
        if (operand == barriersAhead.end() || !v->hasOneUse()) return false;
        needed = std::max(needed, operand->second);
        return true;
      });
      if (frees && needed < ahead) {
        i.moveBefore(barriers[needed]->getIterator());
        ahead = needed;
        changed = true;
      }
    }
    barriersAhead[&i] = ahead;
  }
  return changed;
}

} // namespace

PreservedAnalyses SumsBeforeBarriersPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) changed |= runOnBlock(block);
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
