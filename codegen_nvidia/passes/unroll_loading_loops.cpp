// Unrolls short loops of a constant count, so that their loads are in flight together.
//
//   loop: %v = asm "@p ld.global …"(%p);  %sum = fadd %sum, %v     →    %v0 = asm …;  %v1 = asm …;  %v2 = asm …;  …
//
// So is the count of a loop over a group of constant size whose end is bounded, if it is entered only where the bound
// does not matter: i from 4 g to min(4 g + 4, 32), where g < 8. Such a loop counts from 0 then.
//
// ptxas does it for smaller loops, and by four for longer ones (count_loops.cpp). Loops with barriers or other convergent
// calls stay: those of dots are pipelined, and lose by it. So do loops that write memory: ptxas moves no load before a
// store, so that unrolling takes registers and has no loads in flight together.
#include "codegen_nvidia/passes/unroll_loading_loops.h"
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

/// The trip count of a loop, if it is a constant only by what is known where the loop is entered; else 0.
uint64_t tripCountByGuards(const Loop &loop, ScalarEvolution &scev) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!latch || loop.getExitingBlock() != latch || !loop.getLoopPreheader()) return 0;
  if (!isa<BranchInst>(latch->getTerminator()) || scev.getSmallConstantTripCount(&loop)) return 0;
  const SCEV *count = scev.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(count)) return 0;
  auto *constant = dyn_cast<SCEVConstant>(scev.applyLoopGuards(count, &loop));
  constexpr uint64_t kMost = 64; // LLVM's thresholds decide; of more it unrolls none
  return constant && constant->getAPInt().ult(kMost) ? constant->getAPInt().getZExtValue() + 1 : 0;
}

/// Makes a counter from 0 decide when the loop ends.
void countTo(uint64_t trips, Loop &loop, ScalarEvolution &scev) {
  BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto *branch = cast<BranchInst>(latch->getTerminator());
  IRBuilder<> b(header, header->begin());
  PHINode *counter = b.CreatePHI(b.getInt32Ty(), 2);
  b.SetInsertPoint(branch);
  Value *next = b.CreateAdd(counter, b.getInt32(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  counter->addIncoming(b.getInt32(0), loop.getLoopPreheader());
  counter->addIncoming(next, latch);
  bool staysIfTrue = branch->getSuccessor(0) == header;
  auto predicate = staysIfTrue ? CmpInst::ICMP_ULT : CmpInst::ICMP_UGE;
  branch->setCondition(b.CreateICmp(predicate, next, b.getInt32(uint32_t(trips))));
  scev.forgetLoop(&loop);
}

} // namespace

PreservedAnalyses UnrollLoadingLoopsPass::run(Loop &loop, LoopAnalysisManager &analyses,
                                              LoopStandardAnalysisResults &results, LPMUpdater &updater) {
  unsigned size = 0; // instructions of an iteration
  bool loads = false;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      auto *call = dyn_cast<CallBase>(&i);
      if ((call && call->isConvergent()) || writesMemory(i)) return PreservedAnalyses::all();
      size += !isa<PHINode>(i) && !i.isTerminator();
      loads |= isa<LoadInst>(i) || (call && isRecordedLoad(*call));
    }
  uint64_t trips = tripCountByGuards(loop, results.SE);
  if (trips) countTo(trips, loop, results.SE);
  // LLVM's own bound is 300 instructions.
  unsigned count = loads ? results.SE.getSmallConstantTripCount(&loop) : 0;
  if (loop.isInnermost() && count > 1 && count <= tuning_.unrolledLoadingIterations &&
      size * count <= tuning_.unrolledLoadingInstructions)
    addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
  PreservedAnalyses preserved = LoopFullUnrollPass(/*OptLevel=*/3).run(loop, analyses, results, updater);
  if (trips) preserved.intersect(getLoopPassPreservedAnalyses());
  return preserved;
}

} // namespace tessera::nvidia
