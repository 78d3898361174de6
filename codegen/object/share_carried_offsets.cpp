// Loop-carried elements of an index tensor that all advance by one number: one of them stays loop-carried, the others
// become sums of it and constants.
//
//   %x = phi i32 [ %a, %entry ], [ %x2, %loop ]              %x = phi i32 [ %a, %entry ], [ %x2, %loop ]
//   %y = phi i32 [ %a8, %entry ], [ %y2, %loop ]      →      %y = add i32 %x, 8
//   %x2 = add i32 %x, %step                                  %x2 = add i32 %x, %step
//   %y2 = add i32 %y, %step
//
// with %a8 = add i32 %a, 8, or a sum of the same terms that differs from that of %a by 8. The column numbers of a 128 x
// 128 dot by four warps take one register instead of 32. Differences of such numbers, for instance of rows and columns,
// are then one of them and constants, many of them equal: 50 instead of 128 there.
//
//   %d = sub i32 %row, %x                                    %d = sub i32 %row, %x
//   %e = sub i32 %row8, %x1                           →      %e = add i32 %d, 7
#include "codegen/object/share_carried_offsets.h"
#include "codegen/object/run_passes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include <map>
#include <optional>

namespace tessera::codegen {
using namespace llvm;

namespace {

/// A sum: terms in an order of its own, and a constant.
struct Sum {
  SmallVector<Value *, 4> terms;
  APInt constant;

  Sum(Value *v) : constant(APInt::getZero(v->getType()->getIntegerBitWidth())) {
    add(v, /*depth=*/0);
    sort(terms);
  }

private:
  void add(Value *v, int depth) {
    using namespace PatternMatch;
    constexpr int kDepth = 4;
    const APInt *known;
    Value *a, *b;
    if (match(v, m_APInt(known))) {
      constant += *known;
    } else if (depth < kDepth && match(v, m_AddLike(m_Value(a), m_Value(b)))) {
      add(a, depth + 1);
      add(b, depth + 1);
    } else {
      terms.push_back(v);
    }
  }
};

/// A phi that is `start` when the block is entered from elsewhere, and itself plus a step when it comes from `latch`.
struct Carried {
  PHINode *phi;
  Instruction *next;
  Value *step;
  Sum start;
  BasicBlock *latch;
};

/// The phi as a carried number, if it is one.
std::optional<Carried> carried(PHINode &phi) {
  using namespace PatternMatch;
  for (unsigned latch : {0u, 1u}) {
    Value *step;
    auto *next = dyn_cast<Instruction>(phi.getIncomingValue(latch));
    if (next && match(next, m_c_Add(m_Specific(&phi), m_Value(step))) && step != &phi)
      return Carried{&phi, next, step, Sum(phi.getIncomingValue(1 - latch)), phi.getIncomingBlock(latch)};
  }
  return std::nullopt;
}

/// Differences of sums of the same terms become the first one of them and a constant.
bool shareDifferences(BasicBlock &block) {
  using namespace PatternMatch;
  using Terms = SmallVector<Value *, 4>;
  struct First {
    Instruction *difference;
    APInt constant;
  };
  std::map<std::pair<Terms, Terms>, First> firsts;
  bool changed = false;
  for (Instruction &i : make_early_inc_range(block)) {
    Value *x, *y;
    if (!i.getType()->isIntegerTy() || !match(&i, m_Sub(m_Value(x), m_Value(y)))) continue;
    Sum a(x), b(y);
    if (a.terms.empty() || b.terms.empty()) continue;
    APInt constant = a.constant - b.constant;
    auto [at, isFirst] = firsts.try_emplace({a.terms, b.terms}, First{&i, constant});
    if (isFirst || at->second.difference->getType() != i.getType()) continue;
    at->second.difference->dropPoisonGeneratingFlags(); // others may be in range where it is not
    IRBuilder<> builder(&i);
    i.replaceAllUsesWith(
        builder.CreateAdd(at->second.difference, ConstantInt::get(i.getType(), constant - at->second.constant)));
    i.eraseFromParent();
    changed = true;
  }
  return changed;
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
      auto *leader = find_if(leaders, [&](const Carried &l) {
        return l.phi->getType() == phi.getType() && l.step == c->step && l.start.terms == c->start.terms &&
               l.latch == c->latch;
      });
      if (leader == leaders.end()) {
        leaders.push_back(*c);
        continue;
      }
      leader->next->dropPoisonGeneratingFlags(); // others may be in range where it is not
      IRBuilder<> b(&block, block.getFirstInsertionPt());
      Value *shared =
          b.CreateAdd(leader->phi, ConstantInt::get(phi.getType(), c->start.constant - leader->start.constant));
      for (Carried &l : leaders)
        if (l.step == &phi) l.step = shared;
      phi.replaceAllUsesWith(shared);
      phi.eraseFromParent();
      if (c->next->use_empty()) c->next->eraseFromParent();
      changed = true;
    }
    changed |= shareDifferences(block);
  }
  return preservedIn(changed);
}

} // namespace tessera::codegen
