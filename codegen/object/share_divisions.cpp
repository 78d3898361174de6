// Neighbouring elements of a tensor divided by a multiple of a power of two: one division for all within such a power.
//
//   %x1 = or disjoint i32 %x, 1                         (%x a multiple of 16)
//   %r = urem i32 %x, 2000                              %r = urem i32 %x, 2000
//   %r1 = urem i32 %x1, 2000                     →      %r1 = add nuw nsw i32 %r, 1
//   %q1 = udiv i32 %x1, 2000                            %q1 = udiv i32 %x, 2000
//
// Rows modulo a bound are the usual case: beside the divisions, addresses become one register and offsets of
// instructions instead of a register pair each.
#include "codegen/object/share_divisions.h"
#include "codegen/object/run_passes.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

namespace tessera::codegen {
using namespace llvm;

/// x without its low part, as a number that the program has already where x was made by adding to it.
static Value *without(IRBuilder<> &b, Value *x, const APInt &low) {
  using namespace PatternMatch;
  Value *from;
  const APInt *added;
  if (match(x, m_AddLike(m_Value(from), m_APInt(added))) && low.isSubsetOf(*added)) {
    APInt rest = *added - low;
    if (rest.isZero()) return from;
    if (isa<PossiblyDisjointInst>(x))
      return b.CreateOr(from, ConstantInt::get(x->getType(), rest), "", /*IsDisjoint=*/true);
    auto *sum = cast<BinaryOperator>(x);
    return b.CreateAdd(from, ConstantInt::get(x->getType(), rest), "", sum->hasNoUnsignedWrap() && rest.ule(*added),
                       sum->hasNoSignedWrap() && added->isNonNegative() && rest.isNonNegative());
  }
  return b.CreateSub(x, ConstantInt::get(x->getType(), low), "", /*HasNUW=*/true, /*HasNSW=*/false);
}

PreservedAnalyses ShareDivisionsPass::run(Function &f, FunctionAnalysisManager &) {
  const DataLayout &layout = f.getDataLayout();
  bool changed = false;
  for (Instruction &i : make_early_inc_range(instructions(f))) {
    bool remainder = i.getOpcode() == Instruction::URem;
    if (!remainder && i.getOpcode() != Instruction::UDiv) continue;
    auto *by = dyn_cast<ConstantInt>(i.getOperand(1));
    if (!by || by->isZero() || by->getValue().isPowerOf2() || by->getValue()[0]) continue;
    Value *x = i.getOperand(0);
    KnownBits known = computeKnownBits(x, layout);
    unsigned bits = std::min((known.Zero | known.One).countr_one(), by->getValue().countr_zero());
    APInt low = known.One & APInt::getLowBitsSet(known.getBitWidth(), bits);
    if (low.isZero()) continue;
    IRBuilder<> b(&i);
    Value *from = without(b, x, low);
    Value *result = b.CreateBinOp(cast<BinaryOperator>(i).getOpcode(), from, by);
    if (remainder)
      result = b.CreateAdd(result, ConstantInt::get(x->getType(), low), "", /*HasNUW=*/true,
                           /*HasNSW=*/by->getValue().isNonNegative());
    i.replaceAllUsesWith(result);
    i.eraseFromParent();
    changed = true;
  }
  return preservedIn(changed);
}

} // namespace tessera::codegen
