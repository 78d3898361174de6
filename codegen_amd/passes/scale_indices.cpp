// Makes bytes of an index's parts rather than of the index.
//
//   %a = shl i32 %thread, 3                               %a = shl i32 %thread, 4
//   %b = and i32 %a, 1528                                 %b = and i32 %a, 3056
//   %c = lshr i32 %thread, 2                              %c = lshr i32 %thread, 1
//   %d = and i32 %c, 8                             →      %d = and i32 %c, 16
//   %x = xor i32 %b, %d                                   %x = xor i32 %b, %d
//   %p = getelementptr half, @lds, i32 %x                 %p = getelementptr i8, @lds, i32 %x
//   %y = xor i32 %x, 16                                   %y = xor i32 %x, 32
//   %q = getelementptr half, @lds, i32 %y                 %q = getelementptr i8, @lds, i32 %y
//
// An index is put together from bits of the thread's number, each moved by a shift. To make bytes of it takes one shift
// more, which these can do. Shifts, masks, sums, muls by a constant and exclusive ors are replaced if all that
// uses them is. Other parts, such as a scalar or a sum that something else uses as well, are shifted themselves. Scaled
// are those indices of which there are more than such parts; what is in a loop counts as often as it may be executed.
//
// Limits: indices of 32 bits. Shifts whose result is added to or combined with another number stay, because the
// instruction for that shifts, too (v_lshl_add_u32, v_lshl_or_b32). Indices of LDS: those from a constant address.
//
// Runs: late among the optimisations of levels 2 and 3, as the passes on offsets know shifted indices.
#include "codegen_amd/passes/scale_indices.h"
#include "codegen/address_spaces.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tessera::amd {
using namespace llvm;
using namespace PatternMatch;

namespace {

constexpr unsigned kBits = 32;

/// A place where an index is made bytes: the shift, or the address that does it.
struct Root {
  Instruction *at;
  Value *index;
};

bool isOfLds(const GetElementPtrInst &address) { return address.getPointerAddressSpace() == codegen::kSharedSpace; }

/// Whether an address of LDS begins where the offset of an access can: what is farther is added to the index first, and
/// two constants would become one there, which several accesses have no longer in common.
bool isOfNearLds(const GetElementPtrInst &address) {
  constexpr int64_t kFarthest = 1 << 15; // half of what an offset can hold
  if (!isOfLds(address) || !isa<Constant>(address.getPointerOperand())) return false;
  APInt offset(address.getDataLayout().getIndexTypeSizeInBits(address.getType()), 0);
  address.getPointerOperand()->stripAndAccumulateConstantOffsets(address.getDataLayout(), offset, true);
  return offset.ult(kFarthest);
}

/// The address's size of an element as a shift; 0: none that is replaced.
unsigned shiftOfAddress(const GetElementPtrInst &address) {
  if (!isOfNearLds(address) || address.getNumIndices() != 1 || !address.getOperand(1)->getType()->isIntegerTy(kBits))
    return 0;
  uint64_t bytes = address.getDataLayout().getTypeAllocSize(address.getSourceElementType());
  return isPowerOf2_64(bytes) ? Log2_64(bytes) : 0;
}

/// Whether an instruction that uses the shift's result cannot shift as well.
bool takesBytesOnly(const User *user) {
  auto *address = dyn_cast<GetElementPtrInst>(user);
  if (address && isOfLds(*address)) return isOfNearLds(*address);
  return address || isa<ZExtInst, CallInst>(user);
}

/// What is multiplied by 2, 4, 8 and 16, by their exponents.
MapVector<unsigned, SmallVector<Root, 16>> findRoots(Function &f) {
  MapVector<unsigned, SmallVector<Root, 16>> roots;
  constexpr unsigned kMostShift = 4;
  for (Instruction &i : instructions(f)) {
    Value *index = nullptr;
    const APInt *by = nullptr;
    unsigned shift = 0;
    if (auto *address = dyn_cast<GetElementPtrInst>(&i)) {
      shift = shiftOfAddress(*address);
      index = address->getOperand(1);
    } else if (i.getType()->isIntegerTy(kBits) && match(&i, m_Shl(m_Value(index), m_APInt(by))) &&
               all_of(i.users(), takesBytesOnly)) {
      shift = by->getLimitedValue(kBits);
    }
    bool isShifted =
        index && (match(index, m_Shl(m_Value(), m_ConstantInt())) || match(index, m_Mul(m_Value(), m_ConstantInt())));
    if (shift && shift <= kMostShift && isa<Instruction>(index) && !isShifted) roots[shift].push_back({&i, index});
  }
  return roots;
}

/// The indices that are shifted by one number.
class Scaling {
public:
  Scaling(unsigned shift, ArrayRef<Root> roots, const LoopInfo &loops) : shift_(shift), roots_(roots), loops_(loops) {}

  bool run() {
    analyze();
    constexpr size_t kMost = 128; // bounds compile time
    if (roots_.size() + parts_.size() <= kMost) {
      shiftSums();
      leaveIndices();
    }
    if (gain_ <= 0) return false;
    for (const Root &root : roots_) replace(root);
    return true;
  }

private:
  /// Whether it is scaled by scaling its operands.
  bool isPart(const Value *v) const {
    if (!v->getType()->isIntegerTy(kBits)) return false;
    const APInt *by = nullptr;
    if (match(v, m_Shl(m_Value(), m_APInt(by)))) return by->ult(kBits - shift_);
    if (match(v, m_LShr(m_Value(), m_APInt(by)))) // the bits that it shifts out are masked
      return by->ult(kBits) &&
             all_of(v->users(), [](const User *u) { return match(u, m_And(m_Value(), m_ConstantInt())); });
    if (match(v, m_And(m_Value(), m_ConstantInt())) || match(v, m_Mul(m_Value(), m_ConstantInt()))) return true;
    return match(v, m_Or(m_Value(), m_Value())) || match(v, m_Xor(m_Value(), m_Value())) ||
           match(v, m_Add(m_Value(), m_Value()));
  }

  /// Whether the part is scaled by scaling what it is made of, and not by its constant.
  static bool hasScaledOperands(const Value *v) {
    return !match(v, m_Shl(m_Value(), m_ConstantInt())) && !match(v, m_LShr(m_Value(), m_ConstantInt())) &&
           !match(v, m_Mul(m_Value(), m_ConstantInt()));
  }

  int64_t weightOf(const Instruction &i) const {
    constexpr int64_t kIterations = 16; // assumed
    int64_t weight = 1;
    for (unsigned depth = loops_.getLoopDepth(i.getParent()); depth > 0; --depth) weight *= kIterations;
    return weight;
  }

  /// Shifts sums themselves if that saves more than to scale what they are made of.
  void shiftSums() {
    for (Value *v : SmallVector<Value *, 32>(parts_.getArrayRef())) {
      if (!parts_.contains(v) || !hasScaledOperands(v)) continue;
      int64_t before = gain_;
      sums_.insert(v);
      analyze();
      if (gain_ > before) continue;
      sums_.erase(v);
      analyze();
    }
  }

  /// Leaves indices that save nothing, the last ones first: those after them may use what they compute.
  void leaveIndices() {
    for (unsigned i = roots_.size(); i-- > 0 && roots_.size() > 1;) {
      auto all = roots_;
      int64_t before = gain_;
      roots_.erase(roots_.begin() + i);
      analyze();
      if (gain_ >= before) continue;
      roots_ = all;
      analyze();
    }
  }

  /// Finds the parts that are scaled, and the others, which are shifted; what that saves.
  void analyze() {
    SmallPtrSet<const Value *, 32> stay = sums_; // and parts with other uses
    places_.clear();
    for (const Root &root : roots_) places_.insert(root.at);
    do {
      parts_.clear();
      shifted_.clear();
      SmallVector<Value *, 32> pending;
      for (const Root &root : roots_) pending.push_back(root.index);
      while (!pending.empty()) {
        Value *v = pending.pop_back_val();
        if (isa<Constant>(v)) continue;
        if (!isPart(v) || stay.contains(v)) {
          shifted_.insert(v);
          continue;
        }
        if (!parts_.insert(v) || !hasScaledOperands(v)) continue;
        for (Value *operand : cast<Instruction>(v)->operands()) pending.push_back(operand);
      }
    } while (leaveUsed(stay));
    gain_ = 0;
    for (const Root &root : roots_) gain_ += weightOf(*root.at);
    for (Value *v : shifted_) {
      auto *i = dyn_cast<Instruction>(v);
      const Loop *loop = i ? loops_.getLoopFor(i->getParent()) : nullptr;
      gain_ -= i ? weightOf(*i) : 1;
      // Not shifted in a loop for what is after it.
      if (loop && any_of(roots_, [&](const Root &root) { return !loop->contains(root.at); })) gain_ = INT64_MIN / 2;
    }
  }

  /// Adds the parts that something else uses, too; false: there are none.
  bool leaveUsed(SmallPtrSet<const Value *, 32> &stay) const {
    bool changed = false;
    for (Value *v : parts_)
      if (!all_of(v->users(), [&](User *u) { return parts_.contains(u) || places_.contains(u); }))
        changed |= stay.insert(v).second;
    return changed;
  }

  /// The shifted value, computed where the value is.
  Value *scaled(Value *v) {
    if (auto *c = dyn_cast<ConstantInt>(v)) return ConstantInt::get(c->getContext(), c->getValue() << shift_);
    Value *&made = scaled_[v];
    if (made) return made;
    Value *out = nullptr;
    if (!parts_.contains(v)) {
      IRBuilder<> b(v->getContext());
      if (auto *i = dyn_cast<Instruction>(v))
        b.SetInsertPoint(*i->getInsertionPointAfterDef());
      else
        b.SetInsertPoint(&*function().getEntryBlock().getFirstInsertionPt());
      out = b.CreateShl(v, shift_);
    } else {
      out = scaledPart(cast<BinaryOperator>(*v));
    }
    return scaled_[v] = out; // the map may have grown
  }

  Value *scaledPart(BinaryOperator &part) {
    IRBuilder<> b(&part);
    const APInt *by = nullptr;
    Value *of = nullptr;
    if (match(&part, m_Shl(m_Value(of), m_APInt(by)))) return b.CreateShl(of, by->getZExtValue() + shift_);
    if (match(&part, m_LShr(m_Value(of), m_APInt(by)))) {
      unsigned right = by->getZExtValue();
      if (right == shift_) return of;
      return right > shift_ ? b.CreateLShr(of, right - shift_) : b.CreateShl(of, shift_ - right);
    }
    if (match(&part, m_Mul(m_Value(of), m_APInt(by)))) return b.CreateMul(of, b.getInt(*by << shift_));
    Value *first = scaled(part.getOperand(0)), *second = scaled(part.getOperand(1));
    Value *out = b.CreateBinOp(part.getOpcode(), first, second);
    auto *was = dyn_cast<PossiblyDisjointInst>(&part), *is = dyn_cast<PossiblyDisjointInst>(out);
    if (was && is) is->setIsDisjoint(was->isDisjoint());
    return out;
  }

  void replace(const Root &root) {
    Value *bytes = scaled(root.index);
    if (auto *address = dyn_cast<GetElementPtrInst>(root.at)) {
      IRBuilder<> b(address);
      bytes = b.CreatePtrAdd(address->getPointerOperand(), bytes);
    }
    root.at->replaceAllUsesWith(bytes);
    RecursivelyDeleteTriviallyDeadInstructions(root.at);
  }

  Function &function() const { return *roots_.front().at->getFunction(); }

  const unsigned shift_;
  SmallVector<Root, 16> roots_;
  const LoopInfo &loops_;
  SmallPtrSet<const Value *, 16> places_; // of the roots
  SmallPtrSet<const Value *, 32> sums_;   // that are shifted themselves
  SmallSetVector<Value *, 32> parts_, shifted_;
  DenseMap<Value *, Value *> scaled_;
  int64_t gain_ = 0;
};

} // namespace

PreservedAnalyses ScaleIndicesPass::run(Function &f, FunctionAnalysisManager &analyses) {
  bool changed = false;
  auto &loops = analyses.getResult<LoopAnalysis>(f);
  for (auto &[shift, roots] : findRoots(f)) changed |= Scaling(shift, roots, loops).run();
  return codegen::preservedIn(changed);
}

} // namespace tessera::amd
