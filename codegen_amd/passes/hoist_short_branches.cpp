// Computes both sides of a short if before it, so that SimplifyCFG makes selections of it.
//
//   br %odd, %then, %else                             %a = mul %x, 3
//   then:                                             %b = add %a, 1
//     %a = mul %x, 3                                  %c = ashr %x, 1
//     %b = add %a, 1                             →    br %odd, %then, %else
//   else:                                             …
//     %c = ashr %x, 1                               end:
//   end:                                              %y = phi [%b, %then], [%c, %else]
//     %y = phi [%b, %then], [%c, %else]
//
// A branch takes up to nine instructions where LLVM structurises it: the condition as a mask, its complement, and a
// branch for each side, on a uniform condition, too. SimplifyCFG itself bounds what it computes in vain by a cost at
// which `mul` is four operations; on the scalar unit it is one.
//
// Limits: sides of integer operations that may be computed in vain, of at most 32 bits, with few results.
//
// Runs: before SimplifyCFG.
#include "codegen_amd/passes/hoist_short_branches.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"

namespace tessera::amd {
using namespace llvm;

/// What the side computes may be computed in vain; false if not. Adds their number to `count`.
static bool mayHoist(BasicBlock &side, unsigned &count) {
  for (Instruction &i : make_range(side.begin(), side.getTerminator()->getIterator())) {
    auto *type = dyn_cast<IntegerType>(i.getType());
    constexpr unsigned kWordBits = 32;
    bool isCheap = isa<BinaryOperator, CastInst, ICmpInst, SelectInst>(i) && type && type->getBitWidth() <= kWordBits;
    if (!isCheap || !isSafeToSpeculativelyExecute(&i)) return false;
    ++count;
  }
  return true;
}

static bool hoist(BasicBlock &block, const ir::Tuning &tuning) {
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional()) return false;
  BasicBlock *sides[] = {branch->getSuccessor(0), branch->getSuccessor(1)};
  auto isSide = [&](BasicBlock *b) { return b->getSinglePredecessor() == &block && b->getSingleSuccessor(); };
  BasicBlock *end = isSide(sides[0]) ? sides[0]->getSingleSuccessor() : sides[0];
  unsigned operations = 0;
  for (BasicBlock *side : sides) {
    if (side == end) continue;
    if (!isSide(side) || side->getSingleSuccessor() != end || !mayHoist(*side, operations)) return false;
  }
  constexpr ptrdiff_t kMostResults = 2; // that SimplifyCFG makes selections of
  bool isShort = operations && operations <= tuning.hoistBranchesMaxOperations;
  if (sides[0] == sides[1] || !isShort || std::distance(end->phis().begin(), end->phis().end()) > kMostResults ||
      !end->hasNPredecessors(2))
    return false;
  for (BasicBlock *side : sides)
    if (side != end)
      for (Instruction &i : make_early_inc_range(make_range(side->begin(), side->getTerminator()->getIterator()))) {
        i.moveBefore(branch->getIterator());
        i.dropUBImplyingAttrsAndMetadata();
      }
  return true;
}

PreservedAnalyses HoistShortBranchesPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) changed |= hoist(block, tuning_);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
