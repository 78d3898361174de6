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

/// Values that are known to be constants, or not to be (null).
using Values = SmallDenseMap<const Value *, Constant *, 16>;

static Constant *valueAt(const PHINode &phi, Value *v, Values &values) {
  constexpr unsigned kMost = 64; // values: an addition, a comparison and a selection for each of 20 iterations in one
  if (auto *constant = dyn_cast<Constant>(v)) return constant;
  if (auto known = values.find(v); known != values.end()) return known->second;
  auto *i = dyn_cast<Instruction>(v);
  auto *copy = dyn_cast<PHINode>(v); // of LCSSA form, which an inner loop that is unrolled leaves behind
  if (copy && copy->getNumIncomingValues() == 1) return valueAt(phi, copy->getIncomingValue(0), values);
  bool isComputed = i && !isa<PHINode, CallBase>(i) && !i->mayReadOrWriteMemory();
  if (!isComputed || values.size() > kMost) return nullptr;
  values[v] = nullptr; // in code that is not reached a value may depend on itself
  SmallVector<Constant *, 3> operands;
  for (Value *operand : i->operands()) {
    operands.push_back(valueAt(phi, operand, values));
    if (!operands.back()) return nullptr;
  }
  return values[v] = ConstantFoldInstOperands(i, operands, phi.getDataLayout());
}

Constant *valueWhere(const PHINode &phi, Constant *is, Value *v) {
  Values values;
  values[&phi] = is;
  return valueAt(phi, v, values);
}

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
