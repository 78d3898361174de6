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
//
// The same for the offsets of buffer accesses, which are integers: there a `freeze` hides the sum.
#include "codegen_amd/passes/keep_carried_pointers.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;

static bool isOffsetOfBuffer(const Use &use) {
  auto operands = bufferOperands(*use.getUser());
  return operands && use.getOperandNo() == operands->offset;
}

/// Whether the value counts what the offset of a buffer access is, perhaps with a constant more, perhaps of some lanes
/// only.
static bool leadsToBuffer(Value &v, unsigned depth = 0) {
  constexpr unsigned kDeepest = 5; // elements to bytes, a move of the base, a mask, a constant, the access
  return depth < kDeepest && any_of(
                                 v.uses(),
                                 [&](Use &use) {
                                   using namespace PatternMatch;
                                   if (isOffsetOfBuffer(use)) return true;
                                   User *user = use.getUser();
                                   bool isShifted = match(user, m_AddLike(m_Specific(&v), m_ConstantInt())) ||
                                                    match(user, m_Shl(m_Specific(&v), m_ConstantInt()));
                                   bool isChosen = isa<SelectInst>(user) && use.getOperandNo() != 0;
                                   return (isShifted || isChosen) && leadsToBuffer(*user, depth + 1);
                                 });
}

/// Hides the sum that a carried pointer, or the offset of a buffer access, starts from.
static bool hideStart(PHINode &phi) {
  using namespace PatternMatch;
  if (phi.getNumIncomingValues() != 2) return false;
  for (unsigned i = 0; i < 2; ++i) {
    Value *start = phi.getIncomingValue(i), *next = phi.getIncomingValue(1 - i), *step = nullptr;
    IRBuilder<> b(phi.getIncomingBlock(i)->getTerminator());
    if (phi.getType()->isPointerTy()) {
      auto *to = dyn_cast<GetElementPtrInst>(next), *from = dyn_cast<GetElementPtrInst>(start);
      if (!to || to->getPointerOperand() != &phi || !from || from->getPointerOperand() == &phi) continue;
      phi.setIncomingValue(i, b.CreateLaunderInvariantGroup(start));
      return true;
    }
    if (!phi.getType()->isIntegerTy(32) || !match(next, m_c_Add(m_Specific(&phi), m_Value(step)))) continue;
    if (!match(start, m_AddLike(m_Value(), m_Value())) || !leadsToBuffer(phi)) continue;
    phi.setIncomingValue(i, b.CreateFreeze(start));
    return true;
  }
  return false;
}

PreservedAnalyses KeepCarriedPointersPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f)
    for (PHINode &phi : block.phis()) changed |= hideStart(phi);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
