// Unrolls short loops of a constant count, so that their loads are in flight together.
//
//   loop: %v = asm "@p ld.global …"(%p);  %sum = fadd %sum, %v     →    %v0 = asm …;  %v1 = asm …;  %v2 = asm …;  …
//
// So is the count of a loop over a group of constant size whose end is bounded, if it is entered only where the bound
// does not matter: i from 4 g to min(4 g + 4, 32), where g < 8. Such a loop counts from 0 then.
//
// Longer loops that load little, under masks, are unrolled in part, if that leaves no remainder: ptxas unrolls none of
// those. Of wide loads, one iteration's hide their latency by other warps.
//
// ptxas does it for smaller loops, and by four for longer ones (count_loops.cpp). Loops with barriers or other
// convergent calls stay: those of dots are pipelined, and lose by it. So do loops that write memory, but for the
// shortest: ptxas moves no load before a store, so that unrolling takes registers and has no loads in flight together.
#include "codegen_nvidia/passes/unroll_loading_loops.h"
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/occupancy.h"
#include "codegen_nvidia/passes/count_loops.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
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

/// What an iteration of a loop has.
struct Iteration {
  unsigned instructions = 0;
  unsigned loaded = 0;   // registers
  bool hasMasks = false; // of loads
  bool writes = false;   // memory
};

/// None if the loop has what keeps it from being unrolled.
std::optional<Iteration> iterationOf(const Loop &loop) {
  Iteration iteration;
  const DataLayout &layout = loop.getHeader()->getDataLayout();
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      auto *call = dyn_cast<CallBase>(&i);
      if (call && call->isConvergent()) return std::nullopt;
      iteration.writes |= writesMemory(i);
      iteration.instructions += !isa<PHINode>(i) && !i.isTerminator();
      unsigned loaded = loadedRegisters(i, layout);
      iteration.loaded += loaded;
      auto isMask = [](const Use &u) { return u->getType()->isIntegerTy(1) && !isa<Constant>(u); };
      iteration.hasMasks |= loaded && call && llvm::any_of(call->args(), isMask);
    }
  return iteration;
}

/// By how many iterations a longer loop is unrolled; 1: not at all.
unsigned partialCount(const Iteration &iteration, unsigned trips, const ir::Tuning &tuning) {
  unsigned count = 1;
  bool loadsLittle = iteration.loaded && iteration.loaded <= tuning.partlyUnrolledMostLoaded;
  if (!loadsLittle || !iteration.hasMasks || iteration.writes) return count;
  while (trips % (2 * count) == 0 && 2 * count * iteration.loaded <= tuning.partlyUnrolledRegisters &&
         2 * count * iteration.instructions <= tuning.partlyUnrolledInstructions)
    count *= 2;
  return count;
}

} // namespace

PreservedAnalyses UnrollLoadingLoopsPass::run(Loop &loop, LoopAnalysisManager &analyses,
                                              LoopStandardAnalysisResults &results, LPMUpdater &updater) {
  std::optional<Iteration> iteration = iterationOf(loop);
  if (!iteration) return PreservedAnalyses::all();
  uint64_t trips = tripCountByGuards(loop, results.SE);
  if (trips) {
    countTo(unsigned(trips), loop);
    results.SE.forgetLoop(&loop);
  }
  unsigned count = loop.isInnermost() ? results.SE.getSmallConstantTripCount(&loop) : 0;
  if (iteration->writes && count > tuning_.unrolledStoringIterations)
    return trips ? getLoopPassPreservedAnalyses() : PreservedAnalyses::all();
  bool isShort = !iteration->writes && count <= tuning_.unrolledLoadingIterations && // LLVM's bound is 300 instructions
                 iteration->instructions * count <= tuning_.unrolledLoadingInstructions;
  if (count > 1 && iteration->loaded && isShort)
    addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
  else if (unsigned part = count ? partialCount(*iteration, count, tuning_) : 1; part > 1)
    addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", part); // LoopUnrollPass does it
  PreservedAnalyses preserved = LoopFullUnrollPass(/*OptLevel=*/3).run(loop, analyses, results, updater);
  if (trips) preserved.intersect(getLoopPassPreservedAnalyses());
  return preserved;
}

} // namespace tessera::nvidia
