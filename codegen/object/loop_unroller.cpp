// Unrolling of LLVM's loops (see loop_unroller.h).
#include "codegen/object/loop_unroller.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace tessera::codegen {
using namespace llvm;

static Constant *valueAt(unsigned depth, const PHINode &phi, Constant *is, Value *v) {
  constexpr unsigned kDeepest = 6; // of the chain of operations: an addition, a comparison, a selection
  if (v == &phi) return is;
  if (auto *constant = dyn_cast<Constant>(v)) return constant;
  auto *i = dyn_cast<Instruction>(v);
  bool isComputed = i && !isa<PHINode, CallBase>(i) && !i->mayReadOrWriteMemory();
  if (!isComputed || depth == kDeepest) return nullptr;
  SmallVector<Constant *, 3> operands;
  for (Value *operand : i->operands()) {
    operands.push_back(valueAt(depth + 1, phi, is, operand));
    if (!operands.back()) return nullptr;
  }
  return ConstantFoldInstOperands(i, operands, phi.getDataLayout());
}

Constant *valueWhere(const PHINode &phi, Constant *is, Value *v) { return valueAt(0, phi, is, v); }

unsigned iterationsUntilRepeated(const PHINode &phi, const Loop &loop, unsigned most) {
  auto *first = dyn_cast<ConstantInt>(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
  Value *next = phi.getIncomingValueForBlock(loop.getLoopLatch());
  Constant *value = first;
  for (unsigned n = 1; value && n <= most; ++n) {
    value = valueWhere(phi, value, next);
    if (value == first) return n;
  }
  return 1;
}

LoopUnroller::LoopUnroller(Function &f, FunctionAnalysisManager &analyses)
    : loops_(analyses.getResult<LoopAnalysis>(f)), dominators_(analyses.getResult<DominatorTreeAnalysis>(f)),
      assumptions_(analyses.getResult<AssumptionAnalysis>(f)),
      evolution_(analyses.getResult<ScalarEvolutionAnalysis>(f)), costs_(analyses.getResult<TargetIRAnalysis>(f)),
      remarks_(analyses.getResult<OptimizationRemarkEmitterAnalysis>(f)) {}

LoopUnrollResult LoopUnroller::unroll(Loop &loop, unsigned copies, TripCount trips) {
  formLCSSARecursively(loop, dominators_, &loops_, &evolution_);
  bool hasRemainder = trips == TripCount::Any;
  constexpr unsigned kOneLeft = 2; // copies, that leave one iteration: no loop that could be unrolled
  UnrollLoopOptions options{.Count = copies,
                            .Force = true,
                            .Runtime = hasRemainder,
                            .AllowExpensiveTripCount = hasRemainder,
                            .UnrollRemainder = hasRemainder && copies > kOneLeft,
                            .ForgetAllSCEV = false,
                            .SCEVExpansionBudget = 0};
  return UnrollLoop(&loop, options, &loops_, &evolution_, &dominators_, &assumptions_, &costs_, &remarks_,
                    /*PreserveLCSSA=*/true);
}

void LoopUnroller::peel(Loop &loop, unsigned iterations) {
  formLCSSARecursively(loop, dominators_, &loops_, &evolution_);
  ValueToValueMapTy copies;
  peelLoop(&loop, iterations, /*PeelLast=*/false, &loops_, &evolution_, dominators_, &assumptions_,
           /*PreserveLCSSA=*/true, copies);
}

} // namespace tessera::codegen
