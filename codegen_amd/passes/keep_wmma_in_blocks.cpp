// Keeps WMMA instructions of RDNA 3 in their blocks.
//
//   %d = call wmma(…)                %d = call wmma(…);  call fake.use(%d)
//   br %mask, %store, %after    →    br %mask, %store, %after
//   store: store %d                  store: store %d
//
// LLVM 22's machine code sinking does not know that these instructions read values of all lanes: their intrinsics lack
// the mark `convergent` that other matrix instructions have. It moves one whose result only a masked store uses past
// the branch, with the moves that make its operands, where masked-off lanes no longer run the moves. A use in its own
// block that becomes no instruction keeps it there.
#include "codegen_amd/passes/keep_wmma_in_blocks.h"
#include "codegen_amd/passes/intrinsics.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tessera::amd {
using namespace llvm;

/// Whether the value, or something made from it that could be moved with it, is used in its own block by what stays.
static bool anchored(Instruction *value, SmallPtrSetImpl<Instruction *> &seen) {
  for (Use &use : value->uses()) {
    auto *user = cast<Instruction>(use.getUser());
    if (auto *phi = dyn_cast<PHINode>(user)) {
      if (phi->getIncomingBlock(use) == value->getParent()) return true;
      continue;
    }
    if (user->getParent() != value->getParent()) continue;
    auto *call = dyn_cast<CallBase>(user);
    if (user->isTerminator() || user->mayHaveSideEffects() || user->mayReadFromMemory() ||
        (call && call->isConvergent()))
      return true;
    if (seen.insert(user).second && anchored(user, seen)) return true;
  }
  return false;
}

PreservedAnalyses KeepWmmaInBlocksPass::run(Function &f, FunctionAnalysisManager &) {
  SmallVector<IntrinsicInst *, 16> loose;
  for (Instruction &i : instructions(f))
    if (isWmma(i)) {
      SmallPtrSet<Instruction *, 32> seen;
      if (!anchored(&i, seen)) loose.push_back(cast<IntrinsicInst>(&i));
    }
  for (IntrinsicInst *call : loose)
    IRBuilder<>(call->getNextNode())
        .CreateCall(Intrinsic::getOrInsertDeclaration(f.getParent(), Intrinsic::fake_use), {call});
  return loose.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace tessera::amd
