// Clamps that keep NaN select it in a branch that is taken where a lane has one.
//
//   %m = fmed3 %x, -448, 448                              %m = fmed3 %x, -448, 448
//   %n = fcmp uno %x, %x                                  %k = fmed3 %y, -448, 448
//   %a = select %n, %x, %m                                %n = ballot (fcmp uno %x, %y)
//   … the same of %y: %b                             →    br (%n != 0), %rare, %rest         ; unlikely
//   %p = cvt.pk.fp8 %a, %b                              rare:
//                                                         %x1 = select (fcmp uno %x, %x), %x, %m
//                                                         %y1 = select (fcmp uno %y, %y), %y, %k
//                                                         br %rest
//                                                       rest:
//                                                         %a = phi [%x1, %rare], [%m, …]
//                                                         %b = phi [%y1, %rare], [%k, …]
//                                                         %p = cvt.pk.fp8 %a, %b
//
// A conversion to 8-bit floats saturates and keeps NaN: without FP16_OVFL (a mode of the wave, which would change its
// f16 arithmetic, too) a comparison and a selection a number. One comparison finds whether one of two numbers is NaN;
// where they are pairs, sums of pairs are compared, in which a NaN stays one. (Infinities of both signs add up to NaN;
// the branch is right for any numbers.)
//
// Limits: groups of up to 16 numbers, so that few are live at once; not in blocks with matrix instructions, whose order
// (order_matrices.h) would end at the branch. Not on RDNA, which pairs instructions of a block for dual issue.
//
// Runs: after the passes that know masks and loops.
#include "codegen_amd/passes/rare_nans.h"
#include "codegen_amd/passes/intrinsics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tessera::amd {
using namespace llvm;
using namespace llvm::PatternMatch;
namespace {

constexpr size_t kMostClamps = 16; // of a group

/// A selection of the number itself where it is NaN, else of its clamp.
struct Clamp {
  SelectInst *selection;
  Value *number;
  IntrinsicInst *median;
};

/// A pair of which the number is an element, and the element's place; null: of none.
std::pair<Value *, uint64_t> pairOf(Value *number) {
  Value *pair;
  uint64_t place;
  if (!match(number, m_ExtractElt(m_Value(pair), m_ConstantInt(place)))) return {};
  auto *type = dyn_cast<FixedVectorType>(pair->getType());
  return type && type->getNumElements() == 2 ? std::pair(pair, place) : std::pair<Value *, uint64_t>();
}

/// Whether the condition is that the number is NaN.
bool isNanTest(Value *condition, Value *number) {
  auto isNanOf = [](Value *c, Value *of) {
    Value *a, *b;
    CmpPredicate predicate;
    return match(c, m_FCmp(predicate, m_Value(a), m_Value(b))) && predicate == FCmpInst::FCMP_UNO && a == of &&
           (b == of || match(b, m_AnyZeroFP()));
  };
  if (isNanOf(condition, number)) return true;
  auto [pair, place] = pairOf(number);
  auto [conditions, conditionsPlace] = pairOf(condition);
  return pair && conditions && place == conditionsPlace && isNanOf(conditions, pair);
}

std::optional<Clamp> clampOf(Instruction &i) {
  auto *selection = dyn_cast<SelectInst>(&i);
  if (!selection || !selection->getType()->isFloatTy()) return std::nullopt;
  Value *number = selection->getTrueValue();
  auto *median = dyn_cast<IntrinsicInst>(selection->getFalseValue());
  bool isMedian = median && median->getIntrinsicID() == Intrinsic::amdgcn_fmed3 && median->getArgOperand(0) == number &&
                  isa<Constant>(median->getArgOperand(1)) && isa<Constant>(median->getArgOperand(2));
  if (!isMedian || !isNanTest(selection->getCondition(), number)) return std::nullopt;
  return Clamp{selection, number, median};
}

/// Whether the value is computed ahead of the place, or can be.
bool canBeAhead(Value *v, Instruction &place, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 4;
  auto *i = dyn_cast<Instruction>(v);
  if (!i || i->getParent() != place.getParent() || i->comesBefore(&place)) return true;
  bool isArithmetic =
      isa<BinaryOperator, UnaryOperator, CastInst, ExtractElementInst, InsertElementInst, ShuffleVectorInst>(i);
  return isArithmetic && depth < kMostDepth && isSafeToSpeculativelyExecute(i) &&
         all_of(i->operands(), [&](Value *o) { return canBeAhead(o, place, depth + 1); });
}

void moveAhead(Value *v, Instruction &place) {
  auto *i = dyn_cast<Instruction>(v);
  if (!i || i->getParent() != place.getParent() || i->comesBefore(&place)) return;
  for (Value *o : i->operands()) moveAhead(o, place);
  i->moveBefore(place.getIterator());
}

/// The first clamps at the place or behind it, in its block, that can be in one group.
SmallVector<Clamp, kMostClamps> groupFrom(Instruction &place) {
  SmallVector<Clamp, kMostClamps> group;
  for (Instruction &i : make_range(place.getIterator(), place.getParent()->end())) {
    std::optional<Clamp> clamp = clampOf(i);
    if (!clamp) continue;
    if (group.empty() || canBeAhead(clamp->number, *group.front().selection)) group.push_back(*clamp);
    if (group.size() == kMostClamps) break;
  }
  return group;
}

/// The numbers of a group: those that are both elements of a pair, by pair, and the others.
struct Numbers {
  SetVector<Value *> pairs, singles;

  explicit Numbers(ArrayRef<Clamp> group) {
    SetVector<Value *> all;
    SetVector<std::pair<Value *, uint64_t>> elements;
    for (const Clamp &c : group) {
      all.insert(c.number);
      elements.insert(pairOf(c.number));
    }
    for (Value *number : all) {
      Value *pair = pairOf(number).first;
      bool isWhole = pair && elements.contains({pair, 0}) && elements.contains({pair, 1});
      (isWhole ? pairs : singles).insert(isWhole ? pair : number);
    }
  }

  size_t count() const { return 2 * pairs.size() + singles.size(); }
  /// Vector instructions that test for NaN: additions and comparisons.
  size_t cost() const { return pairs.size() + (singles.size() + 1) / 2; }
};

/// The lanes in which one of the numbers is NaN.
Value *lanesWithNan(IRBuilder<> &b, const Numbers &numbers, int warpSize) {
  SmallVector<std::pair<Value *, Value *>> asked;
  if (!numbers.pairs.empty()) {
    SmallVector<Value *> sums(numbers.pairs.begin(), numbers.pairs.end());
    for (; sums.size() > 1; sums.erase(sums.begin(), sums.begin() + 2)) sums.push_back(b.CreateFAdd(sums[0], sums[1]));
    asked.push_back({b.CreateExtractElement(sums[0], uint64_t(0)), b.CreateExtractElement(sums[0], 1)});
  }
  for (size_t i = 0; i < numbers.singles.size(); i += 2)
    asked.push_back({numbers.singles[i], numbers.singles[std::min(i + 1, numbers.singles.size() - 1)]});
  Value *lanes = nullptr;
  for (auto [x, y] : asked) {
    Value *of = b.CreateIntrinsic(Intrinsic::amdgcn_ballot, {b.getIntNTy(unsigned(warpSize))}, {b.CreateFCmpUNO(x, y)});
    lanes = lanes ? b.CreateOr(lanes, of) : of;
  }
  return lanes;
}

/// Selects the group's NaNs in a branch. Returns the block behind it.
BasicBlock *selectInBranch(ArrayRef<Clamp> group, const Numbers &numbers, int warpSize) {
  Instruction &place = *group.front().selection;
  for (const Clamp &c : group) moveAhead(c.median, place);
  IRBuilder<> b(&place);
  Value *any = b.CreateICmpNE(lanesWithNan(b, numbers, warpSize), b.getIntN(unsigned(warpSize), 0));
  MDNode *unlikely = MDBuilder(b.getContext()).createUnlikelyBranchWeights();
  BasicBlock *before = place.getParent();
  Instruction *end = SplitBlockAndInsertIfThen(any, place.getIterator(), /*Unreachable=*/false, unlikely);
  BasicBlock *behind = place.getParent();
  IRBuilder<> rare(end), phis(&place);
  SmallVector<WeakTrackingVH, kMostClamps> unused;
  for (const Clamp &c : group) {
    Value *kept = rare.CreateSelect(rare.CreateFCmpUNO(c.number, c.number), c.number, c.median);
    PHINode *clamped = phis.CreatePHI(c.selection->getType(), 2);
    clamped->addIncoming(kept, end->getParent());
    clamped->addIncoming(c.median, before);
    c.selection->replaceAllUsesWith(clamped);
    unused.push_back(c.selection);
  }
  RecursivelyDeleteTriviallyDeadInstructions(unused);
  return behind;
}

/// From the block on, through what is split off from it.
bool selectInBranches(BasicBlock *block, int warpSize) {
  if (any_of(*block, [](const Instruction &i) { return isMfma(i) || isWmma(i); })) return false;
  bool changed = false;
  for (Instruction *i = &block->front(); i;) {
    SmallVector<Clamp, kMostClamps> group = clampOf(*i) ? groupFrom(*i) : SmallVector<Clamp, kMostClamps>();
    Numbers numbers(group);
    constexpr size_t kBranch = 1;
    if (numbers.cost() + kBranch < group.size() + numbers.count()) {
      block = selectInBranch(group, numbers, warpSize);
      i = &*block->getFirstNonPHIIt();
      changed = true;
    } else {
      i = i->getNextNode();
    }
  }
  return changed;
}

} // namespace

PreservedAnalyses RareNansPass::run(Function &f, FunctionAnalysisManager &) {
  SmallVector<BasicBlock *, 16> blocks;
  for (BasicBlock &block : f) blocks.push_back(&block);
  bool changed = false;
  for (BasicBlock *block : blocks) changed |= selectInBranches(block, warpSize_);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
