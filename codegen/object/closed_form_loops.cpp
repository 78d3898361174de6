// An innermost loop that only computes integers is replaced by their values after it, where scalar evolution knows all
// of them from the number of iterations:
//
//   s = 0                                     s = n > 0 ? n * (n - 1) / 2 : 0
//   for (i = 0; i < n; ++i) s += i       →
//
// LLVM's IndVarSimplify does that among much else: it also rewrites the counters of loops with accesses to memory and
// dots, whose forms later passes know. Loops that read or write memory are left here, as are those with a result that
// has no closed form (a sum of floats), since they would have to iterate in any case, and those of few iterations or of
// many results.
#include "codegen/object/closed_form_loops.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace tessera::codegen {
using namespace llvm;

static bool onlyComputes(const Loop &loop) {
  return llvm::all_of(loop.blocks(), [](const BasicBlock *block) {
    return llvm::none_of(*block,
                         [](const Instruction &i) { return i.mayReadOrWriteMemory() || i.mayHaveSideEffects(); });
  });
}

/// Whether the loop has results, but few, and the values of all are known after it.
static bool hasClosedForms(Loop &loop, ScalarEvolution &evolution, const SCEVExpander &expander) {
  constexpr ptrdiff_t kMostResults = 4; // each has a closed form of its own: no elements of tensors
  BasicBlock *exit = loop.getExitBlock();
  ptrdiff_t results = std::distance(exit->phis().begin(), exit->phis().end());
  if (!results || results > kMostResults) return false;
  return llvm::all_of(exit->phis(), [&](PHINode &result) {
    return llvm::all_of(result.incoming_values(), [&](Value *v) {
      auto *made = dyn_cast<Instruction>(v);
      if (!made || !loop.contains(made)) return true;
      if (!evolution.isSCEVable(made->getType())) return false;
      const SCEV *after = evolution.getSCEVAtScope(made, loop.getParentLoop());
      bool isKnown = !isa<SCEVCouldNotCompute>(after) && evolution.isLoopInvariant(after, &loop);
      return isKnown && expander.isSafeToExpand(after);
    });
  });
}

PreservedAnalyses ClosedFormLoopsPass::run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &known,
                                           LPMUpdater &updater) {
  bool isSimple = loop.isInnermost() && loop.getExitBlock() && loop.isLoopSimplifyForm() && loop.isLCSSAForm(known.DT);
  if (!isSimple || !onlyComputes(loop)) return PreservedAnalyses::all();
  if (isa<SCEVCouldNotCompute>(known.SE.getBackedgeTakenCount(&loop))) return PreservedAnalyses::all();
  constexpr unsigned kFewIterations = 8; // fewer operations than a closed form, when the loop is unrolled
  unsigned most = known.SE.getSmallConstantMaxTripCount(&loop); // 0: not known
  if (most && most <= kFewIterations) return PreservedAnalyses::all();
  SCEVExpander expander(known.SE, "closed");
  if (!hasClosedForms(loop, known.SE, expander)) return PreservedAnalyses::all();

  SmallVector<WeakTrackingVH, 16> dead;
  rewriteLoopExitValues(&loop, &known.LI, &known.TLI, &known.SE, &known.TTI, expander, &known.DT, AlwaysRepl, dead);
  expander.clear();
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead, &known.TLI);
  bool isUsed = llvm::any_of(loop.blocks(), [&](BasicBlock *block) {
    return llvm::any_of(*block, [&](Instruction &i) {
      return llvm::any_of(i.users(), [&](User *user) { return !loop.contains(cast<Instruction>(user)); });
    });
  });
  if (!isUsed) {
    std::string name = loop.getName().str();
    deleteDeadLoop(&loop, &known.DT, &known.SE, &known.LI, known.MSSA);
    updater.markLoopAsDeleted(loop, name);
  }
  PreservedAnalyses kept = getLoopPassPreservedAnalyses();
  if (known.MSSA) kept.preserve<MemorySSAAnalysis>();
  return kept;
}

} // namespace tessera::codegen
