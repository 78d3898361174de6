// Equality of a label and many columns a constant distance apart: the constants are compared with one difference.
//
//   %c1 = or disjoint i32 %column, 1                %d  = sub i64 %label, (%start + zext %column)
//   %x1 = zext nneg i32 %c1 to i64                  %in = icmp ult i64 %d, 2^31
//   %y1 = add i64 %start, %x1                 →     %n  = select i1 %in, i32 trunc %d, i32 -1
//   %p1 = icmp eq i64 %y1, %label                   %p1 = icmp eq i32 %n, 1
//   … %c2, %x2, %y2, %p2                            %p2 = icmp eq i32 %n, 2
//
// The gradient of a loss compares each class with the row's label, a mask of a diagonal each column with each row. A
// thread's columns differ by constants, but the instruction takes the sum: a register and an addition for each, which
// ptxas computes before the loop where it can, and of 64 bits two comparisons. The difference takes one register, and
// constants none.
//
// Modulo 2^n the comparisons are the same. The least constant is part of the difference. Of 64 bits, a difference of
// 2^31 or more becomes -1, which is none of the constants.
//
// Only within a block, of leastDifferences (ir/tuning.def) and more.
#include "codegen_nvidia/passes/compare_differences.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include <map>
#include <tuple>
#include <vector>

namespace tessera::nvidia {
using namespace llvm;

namespace {

enum class Extension { None, Zero, Sign };

/// A value that is extended to the width of the sum, and added or subtracted.
struct Term {
  Value *value;
  Extension extension;
  bool isNegative;

  bool operator<(const Term &t) const {
    return std::tie(value, extension, isNegative) < std::tie(t.value, t.extension, t.isNegative);
  }
};

/// A sum of terms and a constant, modulo 2^(width of the constant).
struct Sum {
  SmallVector<Term, 4> terms; // in the order of the text
  APInt constant;

  explicit Sum(unsigned bits) : constant(bits, 0) {}

  /// Adds `v`, which is extended as stated. What is added before it is extended must not wrap.
  void add(Value *v, Extension extension, bool isNegative, unsigned depth = 0) {
    constexpr unsigned kMaxDepth = 8;
    unsigned bits = constant.getBitWidth();
    if (auto *c = dyn_cast<ConstantInt>(v)) {
      APInt x = extension == Extension::Sign ? c->getValue().sext(bits) : c->getValue().zext(bits);
      constant += isNegative ? -x : x;
      return;
    }
    auto *i = depth < kMaxDepth ? dyn_cast<Instruction>(v) : nullptr;
    if (i && isSum(*i, extension)) {
      add(i->getOperand(0), extension, isNegative, depth + 1);
      add(i->getOperand(1), extension, isNegative, depth + 1);
    } else if (i && isa<ZExtInst>(i)) {
      add(i->getOperand(0), Extension::Zero, isNegative, depth + 1); // a sign extension of it is the same
    } else if (i && isa<SExtInst>(i) && extension != Extension::Zero) {
      add(i->getOperand(0), Extension::Sign, isNegative, depth + 1);
    } else {
      terms.push_back({v, extension, isNegative});
    }
  }

private:
  static bool isSum(Instruction &i, Extension extension) {
    if (auto *disjoint = dyn_cast<PossiblyDisjointInst>(&i)) return disjoint->isDisjoint();
    if (i.getOpcode() != Instruction::Add) return false;
    switch (extension) {
    case Extension::None: return true;
    case Extension::Zero: return i.hasNoUnsignedWrap();
    case Extension::Sign: return i.hasNoSignedWrap();
    }
    llvm_unreachable("one of the three");
  }
};

struct Comparison {
  ICmpInst *compare;
  APInt constant; // which the group's difference is compared with
};

class BlockComparisons {
public:
  BlockComparisons(BasicBlock &block, size_t leastComparisons) : block_(block), leastComparisons_(leastComparisons) {}

  bool run() {
    for (Instruction &i : block_)
      if (auto *compare = dyn_cast<ICmpInst>(&i)) collect(compare);
    bool changed = false;
    for (auto &group : groups_) {
      if (group.size() < leastComparisons_) continue;
      changed |= rewrite(group);
    }
    return changed;
  }

private:
  using Key = std::pair<unsigned, SmallVector<Term, 4>>; // the width, and the terms in any fixed order

  void collect(ICmpInst *compare) {
    auto *type = dyn_cast<IntegerType>(compare->getOperand(0)->getType());
    bool hasWidth = type && (type->getBitWidth() == 32 || type->getBitWidth() == 64);
    bool hasConstant = isa<Constant>(compare->getOperand(0)) || isa<Constant>(compare->getOperand(1));
    if (!compare->isEquality() || !hasWidth || hasConstant) return;
    Sum difference = differenceOf(compare);
    Key key = {type->getBitWidth(), difference.terms};
    llvm::sort(key.second);
    auto [it, isNew] = indices_.try_emplace(key, groups_.size());
    if (isNew) groups_.emplace_back();
    groups_[it->second].push_back({compare, -difference.constant});
  }

  /// Right side minus left side.
  static Sum differenceOf(ICmpInst *compare) {
    Sum sum(compare->getOperand(0)->getType()->getIntegerBitWidth());
    sum.add(compare->getOperand(1), Extension::None, /*isNegative=*/false);
    sum.add(compare->getOperand(0), Extension::None, /*isNegative=*/true);
    return sum;
  }

  bool rewrite(ArrayRef<Comparison> group) {
    // The least constant is part of the difference, so that all others are at least 0.
    const APInt least = minConstant(group);
    constexpr uint64_t kEnd = uint64_t(1) << 31;
    bool areSmall = llvm::all_of(group, [&](auto &c) { return (c.constant - least).ult(kEnd); });
    bool areDifferent = llvm::any_of(group, [&](auto &c) { return c.constant != least; });
    if (!areSmall || !areDifferent) return false;
    IRBuilder<> b(group.front().compare);
    Value *difference = emitDifference(b, group.front().compare, least);
    if (difference->getType()->getIntegerBitWidth() > 32) {
      Value *isInRange = b.CreateICmpULT(difference, b.getInt64(kEnd));
      difference = b.CreateSelect(isInRange, b.CreateTrunc(difference, b.getInt32Ty()), b.getInt32(-1));
    }
    for (auto &[compare, constant] : group) {
      b.SetInsertPoint(compare);
      Value *distance = b.getInt32(uint32_t((constant - least).getZExtValue()));
      Value *result = b.CreateICmp(compare->getPredicate(), difference, distance);
      result->takeName(compare);
      compare->replaceAllUsesWith(result);
      RecursivelyDeleteTriviallyDeadInstructions(compare);
    }
    return true;
  }

  /// The least as signed numbers.
  static APInt minConstant(ArrayRef<Comparison> group) {
    APInt least = group.front().constant;
    for (auto &c : group)
      if (c.constant.slt(least)) least = c.constant;
    return least;
  }

  /// The difference of the comparison's sides without their constants, minus `least`.
  static Value *emitDifference(IRBuilder<> &b, ICmpInst *compare, const APInt &least) {
    Type *type = compare->getOperand(0)->getType();
    Sum sum = differenceOf(compare);
    Value *positive = nullptr;
    Value *negative = ConstantInt::get(type, least);
    for (const Term &t : sum.terms) {
      Value *v = t.extension == Extension::Zero   ? b.CreateZExt(t.value, type)
                 : t.extension == Extension::Sign ? b.CreateSExt(t.value, type)
                                                  : t.value;
      Value *&of = t.isNegative ? negative : positive;
      of = of ? b.CreateAdd(of, v) : v;
    }
    return positive ? b.CreateSub(positive, negative) : b.CreateNeg(negative);
  }

  BasicBlock &block_;
  size_t leastComparisons_;
  std::map<Key, size_t> indices_;
  std::vector<SmallVector<Comparison, 8>> groups_; // in the order of the text
};

} // namespace

PreservedAnalyses CompareDifferencesPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) changed |= BlockComparisons(block, leastComparisons_).run();
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
