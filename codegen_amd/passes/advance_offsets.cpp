// Gives each offset of a buffer access that advances by one step an iteration a loop-carried value of its own.
//
//   loop:                                        before:
//     %k = phi [%first, %before], [%next, %loop]   %start = freeze (2 * (%first + %row) + 2^31)
//     %sum = add %k, %row                        loop:
//     %bytes = shl %sum, 1                  →      %o = phi [%start, %before], [%o.next, %loop]
//     %o = xor %bytes, 2^31                        load %buffer, %o
//     load %buffer, %o                             %o.next = add %o, 2 * step
//     %next = add %k, step
//
// A tensor's rows are the same in every iteration, and its columns, an index that the loop carries or its counter,
// advance. Each row's offset then takes an addition, a shift and the move of the base in each iteration. LLVM's
// strength reduction carries the rows, but leaves what they have in common to be added to each of them: two additions
// for an access. With the sum carried as a whole it is one, and no other register. The freeze hides what the sum starts
// from from strength reduction, which would split it again.
//
// Offsets that are a uniform number apart (two iterations in one, rows of one lane) share a loop-carried value. The
// offset of a load with a mask is the choice of a sum or of an offset beyond the end: the sum is carried, the choice
// stays, and a constant is added after it, by the instruction.
//
// Limits: innermost loops; sums that ScalarEvolution finds to advance by a step that the loop does not change, computed
// by a few operations. Offsets that are carried values already, perhaps with a constant that the instruction takes, are
// left to keep-carried-pointers.
//
// Runs: last but for the passes that look for nothing but carried values and matrix instructions.
#include "codegen_amd/passes/advance_offsets.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace tessera::amd {
using namespace llvm;

namespace {

/// The offset's operand of a buffer access; null for other instructions.
Use *offsetOf(Instruction &i) {
  auto operands = bufferOperands(i);
  return operands ? &i.getOperandUse(operands->offset) : nullptr;
}

/// The offsets of one loop.
class OffsetsOfLoop {
public:
  OffsetsOfLoop(Loop &loop, ScalarEvolution &evolution, const UniformityInfo &uniformity)
      : loop_(loop), evolution_(evolution), uniformity_(uniformity), before_(loop.getLoopPreheader()),
        latch_(loop.getLoopLatch()), expander_(evolution, "step") {}

  bool run() {
    if (!loop_.isInnermost() || !before_ || !latch_) return false;
    SmallSetVector<Use *, 16> offsets;
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &i : *block)
        if (Use *offset = offsetOf(i)) collect(*offset, offsets);
    bool changed = false;
    SmallVector<WeakTrackingVH, 16> replaced;
    for (Use *offset : offsets) {
      Value *before = offset->get();
      if (!carry(*offset)) continue;
      replaced.push_back(before);
      changed = true;
    }
    for (auto &old : replaced)
      if (old) RecursivelyDeleteTriviallyDeadInstructions(old);
    if (changed) DeleteDeadPHIs(loop_.getHeader()); // what the sums were computed from
    return changed;
  }

private:
  /// The places that name a sum: the access, or the choices of a mask.
  void collect(Use &use, SmallSetVector<Use *, 16> &offsets, unsigned depth = 0) {
    constexpr unsigned kDeepest = 3; // a mask, the mask of the loop's last iterations, a part of a select's chain
    auto *select = dyn_cast<SelectInst>(use.get());
    if (select && loop_.contains(select) && depth < kDeepest) {
      collect(select->getOperandUse(1), offsets, depth + 1);
      collect(select->getOperandUse(2), offsets, depth + 1);
    } else if (isa<Instruction>(use.get()) && use->getType()->isIntegerTy(32)) {
      offsets.insert(&use);
    }
  }

  /// Whether the loop carries the value as it is, but for a constant that the access takes.
  bool isCarried(Value *v) const {
    using namespace PatternMatch;
    const APInt *constant = nullptr;
    Value *inner = nullptr;
    if (match(v, m_AddLike(m_Value(inner), m_APInt(constant))) && constant->ult(kBufferImmediates)) v = inner;
    auto *phi = dyn_cast<PHINode>(v);
    return phi && phi->getParent() == loop_.getHeader();
  }

  /// Computes in front of the loop what the value is in the first iteration. Null if that takes more than arithmetic.
  Value *inFirstIteration(Value *v, unsigned &budget, DenseMap<Value *, Value *> &made) {
    auto *i = dyn_cast<Instruction>(v);
    if (!i || !loop_.contains(i)) return v;
    if (Value *known = made.lookup(v)) return known;
    if (auto *phi = dyn_cast<PHINode>(i))
      return phi->getParent() == loop_.getHeader() ? phi->getIncomingValueForBlock(before_) : nullptr;
    bool isArithmetic = isa<BinaryOperator, CastInst>(i) && isSafeToSpeculativelyExecute(i);
    if (!isArithmetic || budget == 0) return nullptr;
    --budget;
    SmallVector<Value *, 2> operands;
    for (Value *o : i->operands()) {
      Value *first = inFirstIteration(o, budget, made);
      if (!first) return nullptr;
      operands.push_back(first);
    }
    // What the first iteration did not compute may overflow, or have bits in common: it is the sum all the same, from
    // which later iterations count.
    bool isSum = PatternMatch::match(i, PatternMatch::m_DisjointOr(PatternMatch::m_Value(), PatternMatch::m_Value()));
    Instruction *copy = isSum ? BinaryOperator::CreateAdd(operands[0], operands[1]) : i->clone();
    for (auto [at, o] : enumerate(operands)) copy->setOperand(at, o);
    copy->dropPoisonGeneratingFlags();
    copy->insertBefore(before_->getTerminator()->getIterator());
    return made[v] = copy;
  }

  struct Carried {
    const SCEV *start, *step;
    Value *value; // a phi, or the sum of one and a uniform number, at the start of the loop
  };

  /// Whether it is the same for all lanes and takes little to compute.
  bool isUniform(const SCEV *s) const {
    return !SCEVExprContains(s, [&](const SCEV *part) {
      if (auto *leaf = dyn_cast<SCEVUnknown>(part)) return !uniformity_.isUniform(leaf->getValue());
      return !isa<SCEVConstant, SCEVAddExpr, SCEVMulExpr>(part);
    });
  }

  /// A value that is a constant less than the sum, and that constant. Nulls where there is none yet.
  std::pair<Value *, ConstantInt *> constantApart(const SCEVAddRecExpr *sum) {
    for (Carried &c : carried_) {
      if (c.step != sum->getStepRecurrence(evolution_)) continue;
      if (auto *apart = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(sum->getStart(), c.start)))
        return {c.value, apart->getValue()};
    }
    return {};
  }

  /// The sum from a carried value of which it is a uniform number apart; null where there is none yet.
  Value *uniformlyApart(const SCEVAddRecExpr *sum) {
    for (Carried &c : carried_) {
      const SCEV *step = sum->getStepRecurrence(evolution_);
      if (c.step != step) continue;
      const SCEV *apart = evolution_.getMinusSCEV(sum->getStart(), c.start);
      Instruction *before = before_->getTerminator();
      if (!isUniform(apart) || !expander_.isSafeToExpandAt(apart, before)) continue;
      // Hidden, too: LLVM would add multiples of one number one after the other, and the loads would wait for a chain
      // of additions. The intrinsic becomes nothing for what is in a scalar register.
      Value *distance = expander_.expandCodeFor(apart, sum->getType(), before->getIterator());
      distance = IRBuilder<>(before).CreateIntrinsic(Intrinsic::amdgcn_readfirstlane, {distance->getType()}, distance);
      // Behind the value, which may be such a sum itself.
      IRBuilder<> b(loop_.getHeader(), *cast<Instruction>(c.value)->getInsertionPointAfterDef());
      Value *made = b.CreateAdd(c.value, distance);
      carried_.push_back({sum->getStart(), step, made});
      return made;
    }
    return nullptr;
  }

  /// The offset is so much more than the value. A constant that the instruction can add it adds, also after the choice
  /// of a mask: an offset beyond the end stays one if it is as much less before.
  void use(Use &offset, Value *carried, ConstantInt *constant) {
    if (constant->isZero()) {
      offset.set(carried);
      return;
    }
    auto *user = cast<Instruction>(offset.getUser());
    auto *choice = dyn_cast<SelectInst>(user);
    auto *beyond = choice ? dyn_cast<ConstantInt>(choice->getFalseValue()) : nullptr;
    bool isMask = beyond && constant->getZExtValue() < kBufferImmediates &&
                  beyond->getZExtValue() >= kBeyondBuffers + constant->getZExtValue() &&
                  all_of(choice->uses(), [](Use &u) { return offsetOf(*cast<Instruction>(u.getUser())) == &u; });
    if (!isMask) {
      offset.set(IRBuilder<>(user).CreateAdd(carried, constant));
      return;
    }
    offset.set(carried);
    choice->setFalseValue(ConstantInt::get(beyond->getContext(), beyond->getValue() - constant->getValue()));
    Value *sum = IRBuilder<>(choice->getNextNode()).CreateAdd(choice, constant);
    choice->replaceUsesWithIf(sum, [&](Use &u) { return u.getUser() != sum; });
  }

  /// A new carried value for the sum; null if what it starts from is not found.
  Value *carryAnew(Value *v, const SCEVAddRecExpr *sum) {
    const SCEV *step = sum->getStepRecurrence(evolution_);
    constexpr unsigned kMostOperations = 8;
    unsigned budget = kMostOperations;
    DenseMap<Value *, Value *> made;
    if (!expander_.isSafeToExpandAt(step, before_->getTerminator())) return nullptr;
    Value *start = inFirstIteration(v, budget, made);
    if (!start) return nullptr;
    IRBuilder<> b(before_->getTerminator());
    start = b.CreateFreeze(start);
    Value *by = expander_.expandCodeFor(step, v->getType(), before_->getTerminator()->getIterator());
    b.SetInsertPoint(loop_.getHeader(), loop_.getHeader()->begin());
    PHINode *phi = b.CreatePHI(v->getType(), 2, "offset");
    b.SetInsertPoint(latch_->getTerminator());
    phi->addIncoming(start, before_);
    phi->addIncoming(b.CreateAdd(phi, by), latch_);
    carried_.push_back({sum->getStart(), step, phi});
    return phi;
  }

  bool carry(Use &offset) {
    Value *v = offset.get();
    auto *i = dyn_cast<Instruction>(v);
    if (!i || !loop_.contains(i) || isCarried(v)) return false;
    auto *sum = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(v));
    if (!sum || sum->getLoop() != &loop_ || !sum->isAffine()) return false;
    auto [now, constant] = constantApart(sum);
    if (!now) {
      now = uniformlyApart(sum);
      if (!now) now = carryAnew(v, sum);
      if (!now) return false;
      constant = ConstantInt::get(v->getContext(), APInt::getZero(v->getType()->getIntegerBitWidth()));
    }
    use(offset, now, constant);
    return true;
  }

  Loop &loop_;
  ScalarEvolution &evolution_;
  const UniformityInfo &uniformity_;
  BasicBlock *before_, *latch_;
  SCEVExpander expander_;
  SmallVector<Carried, 8> carried_;
};

} // namespace

PreservedAnalyses AdvanceOffsetsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(f);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
  auto &uniformity = analyses.getResult<UniformityInfoAnalysis>(f);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) changed |= OffsetsOfLoop(*loop, evolution, uniformity).run();
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
