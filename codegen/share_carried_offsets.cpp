// The elements of an index tensor that a loop carries and moves on by one number: one of them is carried, the others are at
// constant distances from it.
//
//   %x = phi i32 [ %a, %entry ], [ %x2, %loop ]              %x = phi i32 [ %a, %entry ], [ %x2, %loop ]
//   %y = phi i32 [ %a8, %entry ], [ %y2, %loop ]      →      %y = add i32 %x, 8
//   %x2 = add i32 %x, %step                                  %x2 = add i32 %x, %step
//   %y2 = add i32 %y, %step
//
// with %a8 = add i32 %a, 8. The column numbers of a 128 x 128 product by four warps take one register instead of 32, and what
// is computed from their differences to row numbers is shared among elements as soon as the constants meet.
#include "codegen/share_carried_offsets.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include <optional>

namespace tessera::codegen {
using namespace llvm;

namespace {

/// A phi that is `start` (= base + distance; base null: distance) when the loop is entered, and itself plus a step later.
struct Carried {
  PHINode *phi;
  Instruction *next;
  Value *step, *base;
  APInt distance;
  BasicBlock *latch;
};

/// The phi as a carried number, if it is one.
std::optional<Carried> carried(PHINode &phi) {
  using namespace PatternMatch;
  for (unsigned latch : {0u, 1u}) {
    Value *step, *start = phi.getIncomingValue(1 - latch);
    auto *next = dyn_cast<Instruction>(phi.getIncomingValue(latch));
    if (!next || !match(next, m_c_Add(m_Specific(&phi), m_Value(step))) || step == &phi) continue;
    APInt distance = APInt::getZero(phi.getType()->getIntegerBitWidth());
    const APInt *more;
    while (match(start, m_AddLike(m_Value(start), m_APInt(more)))) distance += *more;
    if (match(start, m_APInt(more))) distance += *more, start = nullptr;
    return Carried{&phi, next, step, start, distance, phi.getIncomingBlock(latch)};
  }
  return std::nullopt;
}

} // namespace

PreservedAnalyses ShareCarriedOffsetsPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) {
    SmallVector<Carried, 8> leaders;
    for (PHINode &phi : make_early_inc_range(block.phis())) {
      if (phi.getNumIncomingValues() != 2 || !phi.getType()->isIntegerTy()) continue;
      std::optional<Carried> c = carried(phi);
      if (!c) continue;
      auto *leader = find_if(leaders, [&](const Carried &l) { return l.phi->getType() == phi.getType() && l.step == c->step && l.base == c->base && l.latch == c->latch; });
      if (leader == leaders.end()) {
        leaders.push_back(*c);
        continue;
      }
      IRBuilder<> b(&block, block.getFirstInsertionPt());
      Value *shared = b.CreateAdd(leader->phi, ConstantInt::get(phi.getType(), c->distance - leader->distance));
      for (Carried &l : leaders)
        for (Value **v : {&l.step, &l.base})
          if (*v == &phi) *v = shared;
      phi.replaceAllUsesWith(shared);
      phi.eraseFromParent();
      if (c->next->use_empty()) c->next->eraseFromParent();
      changed = true;
    }
  }
  if (!changed) return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

} // namespace tessera::codegen
