// Keeps each pointer that a loop carries and advances in one pair of registers.
//
//   before:                                             before:
//     %start = getelementptr …, %row, %column             %start = getelementptr …, %row, %column
//                                                         %hidden = launder.invariant.group %start
//   loop:                                          →    loop:
//     %p = phi [%start, %before], [%next, %loop]          %p = phi [%hidden, %before], [%next, %loop]
//     %next = getelementptr …, %p, %step                  %next = getelementptr …, %p, %step
//
// LLVM's strength reduction, which runs in code generation, splits the sum that such a pointer starts from: each of
// many pointers keeps its row, and the column that they share is added to all of them in every iteration. The intrinsic
// hides the sum from it and becomes nothing afterwards. It hides as much from other passes, so this one runs last.
#include "codegen_amd/passes/keep_carried_pointers.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::amd {
using namespace llvm;

PreservedAnalyses KeepCarriedPointersPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f)
    for (PHINode &phi : block.phis()) {
      if (!phi.getType()->isPointerTy() || phi.getNumIncomingValues() != 2) continue;
      for (unsigned i = 0; i < 2; ++i) {
        auto *next = dyn_cast<GetElementPtrInst>(phi.getIncomingValue(1 - i));
        auto *start = dyn_cast<GetElementPtrInst>(phi.getIncomingValue(i));
        if (!next || next->getPointerOperand() != &phi || !start || start->getPointerOperand() == &phi) continue;
        IRBuilder<> b(phi.getIncomingBlock(i)->getTerminator());
        phi.setIncomingValue(i, b.CreateLaunderInvariantGroup(start));
        changed = true;
        break;
      }
    }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
