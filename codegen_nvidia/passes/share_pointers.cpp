// Pointers that a loop carries at a constant distance from each other are one pointer and constants.
//
//   loop: %p = phi [%x, …], [%p2, %loop]           loop: %p = phi [%x, …], [%p2, %loop]
//         %q = phi [%x + 2048, …], [%q2, %loop]    →     %q = getelementptr i8, %p, 2048
//         %p2 = getelementptr i8, %p, 8192               %p2 = getelementptr i8, %p, 8192
//         %q2 = getelementptr i8, %q, 8192
//
// A thread that loads several rows of a block with constant strides carries one for each: two registers, and two
// additions an iteration, where a constant in the address costs nothing. Distances are those that scalar evolution
// proves of where the pointers start; 32-bit offsets that were extended are compared before that, where their ranges
// say that they do not wrap (thread ids have ranges).
#include "codegen_nvidia/passes/share_pointers.h"
#include "codegen/object/run_passes.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

/// How far apart two addresses are.
class Distance {
public:
  explicit Distance(ScalarEvolution &scev) : scev_(scev) {}

  /// x - y in bytes, if it is a constant.
  std::optional<int64_t> between(const SCEV *x, const SCEV *y) {
    SmallVector<const SCEV *, 8> ofX = terms(x), ofY = terms(y);
    llvm::erase_if(ofX, [&](const SCEV *t) {
      auto *same = llvm::find(ofY, t);
      if (same == ofY.end()) return false;
      ofY.erase(same);
      return true;
    });
    int64_t bytes = takeConstants(ofX) - takeConstants(ofY);
    if (ofX.empty() && ofY.empty()) return bytes;
    if (ofX.size() != 1 || ofY.size() != 1) return {};
    auto rest = betweenExtended(ofX[0], ofY[0]);
    return rest ? std::optional(bytes + *rest) : std::nullopt;
  }

private:
  static SmallVector<const SCEV *, 8> terms(const SCEV *s) {
    if (auto *sum = dyn_cast<SCEVAddExpr>(s)) return {sum->operands().begin(), sum->operands().end()};
    return {s};
  }
  static int64_t takeConstants(SmallVectorImpl<const SCEV *> &terms) {
    int64_t sum = 0;
    llvm::erase_if(terms, [&](const SCEV *t) {
      auto *c = dyn_cast<SCEVConstant>(t);
      if (c) sum += c->getAPInt().getSExtValue();
      return c != nullptr;
    });
    return sum;
  }

  struct Extended {
    const SCEV *narrow = nullptr;
    bool isSigned = false;
  };
  /// What a term extends: `ext e`, or `c · ext e` where c · e does not wrap.
  Extended extended(const SCEV *s) {
    if (auto *z = dyn_cast<SCEVZeroExtendExpr>(s)) return {z->getOperand(), false};
    if (auto *e = dyn_cast<SCEVSignExtendExpr>(s)) return {e->getOperand(), true};
    auto *scaled = dyn_cast<SCEVMulExpr>(s);
    auto *by = scaled && scaled->getNumOperands() == 2 ? dyn_cast<SCEVConstant>(scaled->getOperand(0)) : nullptr;
    if (!by || isa<SCEVMulExpr>(scaled->getOperand(1))) return {};
    Extended e = extended(scaled->getOperand(1));
    if (!e.narrow) return {};
    unsigned width = e.narrow->getType()->getIntegerBitWidth();
    const APInt &c = by->getAPInt();
    if (!c.isStrictlyPositive() || c.getActiveBits() >= width) return {};
    ConstantRange range = e.isSigned ? scev_.getSignedRange(e.narrow) : scev_.getUnsignedRange(e.narrow);
    ConstantRange wide = e.isSigned ? range.signExtend(2 * width) : range.zeroExtend(2 * width);
    ConstantRange multiple = wide.multiply(ConstantRange(c.zextOrTrunc(2 * width)));
    bool fits = e.isSigned ? multiple.getSignedMin().isSignedIntN(width) && multiple.getSignedMax().isSignedIntN(width)
                           : multiple.getUnsignedMax().isIntN(width);
    if (!fits) return {};
    return {scev_.getMulExpr(scev_.getConstant(c.zextOrTrunc(width)), e.narrow), e.isSigned};
  }

  std::optional<int64_t> betweenExtended(const SCEV *x, const SCEV *y) {
    Extended a = extended(x), b = extended(y);
    if (!a.narrow || !b.narrow || a.isSigned != b.isSigned || a.narrow->getType() != b.narrow->getType()) return {};
    auto *difference = dyn_cast<SCEVConstant>(scev_.getMinusSCEV(a.narrow, b.narrow));
    if (!difference) return {};
    unsigned width = a.narrow->getType()->getIntegerBitWidth();
    if (width > 32) return {};
    // a = b + c in `width` bits; so it is in more if b + c does not wrap.
    int64_t c = difference->getAPInt().getSExtValue();
    if (a.isSigned) {
      ConstantRange range = scev_.getSignedRange(b.narrow);
      int64_t least = range.getSignedMin().getSExtValue() + c, most = range.getSignedMax().getSExtValue() + c;
      return isIntN(width, least) && isIntN(width, most) ? std::optional(c) : std::nullopt;
    }
    ConstantRange range = scev_.getUnsignedRange(b.narrow);
    int64_t least = int64_t(range.getUnsignedMin().getZExtValue()) + c;
    int64_t most = int64_t(range.getUnsignedMax().getZExtValue()) + c;
    return least >= 0 && isUIntN(width, uint64_t(most)) ? std::optional(c) : std::nullopt;
  }

  ScalarEvolution &scev_;
};

} // namespace

/// The recurrence of a pointer that advances by the same number of bytes in each iteration, or null.
static const SCEVAddRecExpr *recurrenceOf(PHINode &phi, const Loop &loop, ScalarEvolution &scev) {
  if (!phi.getType()->isPointerTy()) return nullptr;
  auto *r = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&phi));
  return r && r->getLoop() == &loop && r->isAffine() ? r : nullptr;
}

static bool sharePointers(const Loop &loop, ScalarEvolution &scev) {
  if (!loop.getLoopPreheader()) return false;
  struct Carried {
    PHINode *phi;
    const SCEVAddRecExpr *recurrence;
  };
  SmallVector<Carried, 16> kept;
  SmallVector<std::pair<PHINode *, std::pair<PHINode *, int64_t>>, 16> shared;
  for (PHINode &phi : loop.getHeader()->phis()) {
    auto *r = recurrenceOf(phi, loop, scev);
    if (!r) continue;
    bool isShared = false;
    for (auto &other : kept) {
      if (other.phi->getType() != phi.getType()) continue;
      if (other.recurrence->getStepRecurrence(scev) != r->getStepRecurrence(scev)) continue;
      auto distance = Distance(scev).between(r->getStart(), other.recurrence->getStart());
      if (!distance) continue;
      shared.push_back({&phi, {other.phi, *distance}});
      isShared = true;
      break;
    }
    if (!isShared) kept.push_back({&phi, r});
  }
  for (auto &[phi, from] : shared) {
    IRBuilder<> b(loop.getHeader(), loop.getHeader()->getFirstInsertionPt());
    scev.forgetValue(phi);
    phi->replaceAllUsesWith(b.CreatePtrAdd(from.first, b.getInt64(from.second)));
    phi->eraseFromParent();
  }
  return !shared.empty();
}

PreservedAnalyses SharePointersPass::run(Function &f, FunctionAnalysisManager &am) {
  auto &scev = am.getResult<ScalarEvolutionAnalysis>(f);
  bool changed = false;
  for (Loop *loop : am.getResult<LoopAnalysis>(f).getLoopsInPreorder()) changed |= sharePointers(*loop, scev);
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
