// Adds the distance by which a buffer's base is moved to what several offsets have in common.
//
//   %i = add %row, %column                          %moved = add %column, 0x1ffffffc
//   %bytes = shl %i, 2                         →    %i = add %row, %moved
//   %o = add %bytes, 0x7ffffff0                     %o = shl %i, 2
//
// Where an offset may be negative, the lowering moves the buffer's base back and adds that distance to each offset
// (codegen/lowering/access_plan.cpp). The index of an element is a sum, mostly of a row and a column: an addition, and
// another instruction for shift and distance. One instruction does the addition and the shift (v_add_lshl_u32), if one
// of the two has the distance already; many offsets have the row or the column in common, or it is a scalar.
//
// Limits: sums that nothing but offsets uses; distances that a shift to the left gives back. Sums of a
// multiply or of another sum are left alone: one instruction does both.
//
// Runs: after the passes that give loops' offsets values of their own, which know the sums as the lowering makes them.
#include "codegen_amd/passes/share_base_moves.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tessera::amd {
using namespace llvm;
using namespace PatternMatch;

namespace {

/// (a + b) << shift, to whose users a distance is added.
struct ShiftedSum {
  Instruction *shifted;
  Value *a, *b;
  uint32_t distance; // what all users add at least
  unsigned shift;
  /// What an operand takes.
  uint32_t moved() const { return distance >> shift; }
};

/// An operand, and what is added to it.
using MovedOperand = std::pair<Value *, uint32_t>;

/// Whether one instruction computes both the value and its sum with another: a multiply-add, or an addition of three.
/// RDNA: LLVM does so for scalars, too.
bool isPartOfSum(Value *v, const UniformityInfo &uniformity, const ir::TargetInfo &info) {
  auto multiply = m_OneUse(m_Mul(m_Value(), m_Value()));
  auto sum = m_OneUse(m_Add(m_Value(), m_Value()));
  if (info.matrixUnit == ir::MatrixUnit::Wmma && match(v, multiply)) return true;
  return uniformity.isDivergent(v) && match(v, m_CombineOr(multiply, sum));
}

std::optional<ShiftedSum> shiftedSum(Instruction &i, const UniformityInfo &uniformity, const ir::TargetInfo &info) {
  Value *a = nullptr, *b = nullptr;
  uint64_t shift = 0;
  if (!i.getType()->isIntegerTy(32) || i.use_empty()) return std::nullopt;
  if (!match(&i, m_Shl(m_OneUse(m_AddLike(m_Value(a), m_Value(b))), m_ConstantInt(shift)))) return std::nullopt;
  if (shift >= 32 || isa<Constant>(a) || isa<Constant>(b)) return std::nullopt;
  if (isPartOfSum(a, uniformity, info) || isPartOfSum(b, uniformity, info)) return std::nullopt;
  uint64_t least = UINT64_MAX, most = 0;
  for (User *user : i.users()) {
    uint64_t distance = 0;
    if (!match(user, m_AddLike(m_Specific(&i), m_ConstantInt(distance)))) return std::nullopt; // a constant is second
    least = std::min(least, distance);
    most = std::max(most, distance);
  }
  bool comesBack = least % (uint64_t(1) << shift) == 0;
  if (least < kBufferImmediates || most - least >= kBufferImmediates || !comesBack) return std::nullopt;
  return ShiftedSum{&i, a, b, uint32_t(least), unsigned(shift)};
}

/// What a constant is added to, or the value itself. LLVM computes sums that are a constant apart from each other.
Value *withoutConstant(Value *v) {
  Value *rest = nullptr;
  return match(v, m_AddLike(m_Value(rest), m_ConstantInt())) ? rest : v;
}

/// The operand with the distance, computed where the operand is; null if there is no place for it.
Value *createMoved(MovedOperand operand, Function &f) {
  auto [value, distance] = operand;
  auto *def = dyn_cast<Instruction>(value);
  auto at = def ? def->getInsertionPointAfterDef() : std::optional(f.getEntryBlock().getFirstInsertionPt());
  if (!at) return nullptr; // the end of its block computes it
  IRBuilder<> b((*at)->getParent(), *at);
  return b.CreateAdd(value, b.getInt32(distance));
}

} // namespace

PreservedAnalyses ShareBaseMovesPass::run(Function &f, FunctionAnalysisManager &analyses) {
  auto &uniformity = analyses.getResult<UniformityInfoAnalysis>(f);
  SmallVector<ShiftedSum, 32> sums;
  DenseMap<MovedOperand, SmallPtrSet<Value *, 4>> others; // with which there are sums
  for (Instruction &i : instructions(f)) {
    auto sum = shiftedSum(i, uniformity, info_);
    if (!sum) continue;
    others[{sum->a, sum->moved()}].insert(withoutConstant(sum->b));
    others[{sum->b, sum->moved()}].insert(withoutConstant(sum->a));
    sums.push_back(*sum);
  }
  DenseMap<MovedOperand, Value *> moved;
  SmallVector<WeakTrackingVH, 32> dead; // until the end: it may be an operand of another sum
  bool changed = false;
  for (const ShiftedSum &s : sums) {
    // Of two that are as often used the scalar one: the addition is a scalar one, too.
    auto rank = [&](Value *v) { return std::pair(others[{v, s.moved()}].size(), uniformity.isUniform(v)); };
    auto ofA = rank(s.a), ofB = rank(s.b);
    auto [count, isUniform] = std::max(ofA, ofB);
    if (count == 1 && !isUniform) continue;
    MovedOperand operand{ofA >= ofB ? s.a : s.b, s.moved()};
    auto [it, isNew] = moved.try_emplace(operand, nullptr);
    if (isNew) it->second = createMoved(operand, f);
    if (!it->second) continue;
    IRBuilder<> b(s.shifted);
    Value *sum = b.CreateAdd(ofA >= ofB ? s.b : s.a, it->second);
    auto *shifted = cast<Instruction>(b.CreateShl(sum, s.shift));
    for (User *user : make_early_inc_range(s.shifted->users())) {
      auto *add = cast<Instruction>(user);
      uint64_t distance = cast<ConstantInt>(add->getOperand(1))->getZExtValue() - s.distance;
      add->replaceAllUsesWith(IRBuilder<>(add).CreateAdd(shifted, b.getInt32(uint32_t(distance))));
      dead.emplace_back(add);
    }
    changed = true;
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
