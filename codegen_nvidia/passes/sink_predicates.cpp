// Predicates of masked accesses are computed where the access is, not all of them ahead of all accesses.
//
//   %p0 = and i1 %row0, %col0                    %p0 = and i1 %row0, %col0
//   %p1 = and i1 %row0, %col1                    call asm "@p ld.global …"(ptr %a, i1 %p0)
//   …                                      →     %p1 = and i1 %row0, %col1
//   call asm "@p ld.global …"(ptr %a, i1 %p0)    call asm "@p ld.global …"(ptr %b, i1 %p1)
//   call asm "@p ld.global …"(ptr %b, i1 %p1)
//
// A thread has seven predicate registers. A tile's mask is computed as a tensor, all elements at once, and ptxas does
// not undo that: it keeps predicates beyond the seventh as bits of other registers (a sum of 8 × 1024 masked elements
// by four warps: 880 machine instructions, 624 with the masks sunk). Comparisons move as well as logic on them, if
// they serve one access alone; what several accesses share stays where it is. Predicates of selections stay as well:
// moving them gave attention with a causal mask more moves of registers, and others no less spills.
#include "codegen_nvidia/passes/sink_predicates.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"

namespace tessera::nvidia {
using namespace llvm;

llvm::PreservedAnalyses SinkPredicatesPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) {
    // From the end, so that what a sunk predicate is made of sinks after it.
    SmallPtrSet<Instruction *, 32> sunk;
    for (Instruction &i : make_early_inc_range(reverse(block))) {
      if (!i.getType()->isIntegerTy(1) || !i.hasOneUse() || !(isa<CmpInst>(i) || isa<BinaryOperator>(i))) continue;
      auto *user = cast<Instruction>(*i.user_begin());
      auto *call = dyn_cast<CallInst>(user);
      if (user->getParent() != &block || !((call && call->isInlineAsm()) || sunk.contains(user))) continue;
      sunk.insert(&i);
      if (i.getNextNode() == user) continue;
      i.moveBefore(user->getIterator());
      changed = true;
    }
  }
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
