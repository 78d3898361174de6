// Unrolls short loops of a constant count, so that their loads are in flight together.
//
//   loop: %v = asm "@p ld.global …"(%p);  %sum = fadd %sum, %v     →    %v0 = asm …;  %v1 = asm …;  %v2 = asm …;  …
//
// ptxas does it only where no load has a mask. Loops with barriers or other convergent calls stay: those of dots are
// pipelined, and lose by it.
#include "codegen_nvidia/passes/unroll_loading_loops.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"

namespace tessera::nvidia {
using namespace llvm;

PreservedAnalyses UnrollLoadingLoopsPass::run(Loop &loop, LoopAnalysisManager &analyses,
                                              LoopStandardAnalysisResults &results, LPMUpdater &updater) {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block)
      if (auto *call = dyn_cast<CallBase>(&i); call && call->isConvergent()) return PreservedAnalyses::all();
  return LoopFullUnrollPass(/*OptLevel=*/3).run(loop, analyses, results, updater);
}

} // namespace tessera::nvidia
