// Descriptors of wgmma that a loop does not change are computed in each iteration, if they are too many for the
// uniform registers (invariantDescriptorRegisters of ir/tuning.def).
//
//   %d1 = add i64 %d0, 2                            loop: %t = phi i32 [0, …], [%t1, %loop]
//   loop:                                             %z = asm "shr.u32 $0, $1, 1;" (%t)         always 0
//     wgmma … %d0 …                           →       %e0 = add i64 %d0, (zext %z)
//     wgmma … %d1 …                                   %e1 = add i64 %e0, 2
//                                                     wgmma … %e0 …
//                                                     wgmma … %e1 …
//                                                     %t1 = xor i32 %t, 1
//
// The instruction reads the descriptors of its operands from uniform registers, of which there are 63. ptxas takes
// what a loop does not change out of it, and where the uniform registers do not suffice, it keeps descriptors in
// registers of the threads and moves them back before each wgmma. A sum is one instruction that writes where the
// descriptor is read. %z keeps the sums in the loop: they depend on the iteration, as far as ptxas knows.
//
// In the backward pass of attention with heads of 64, K and V have 16 descriptors: a loop of 366 instructions becomes
// one of 309, without spills.
#include "codegen_nvidia/passes/descriptors_in_loops.h"
#include "codegen_nvidia/occupancy.h"
#include "codegen_nvidia/passes/zero_of_iteration.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::nvidia {
using namespace llvm;
using namespace PatternMatch;

namespace {

/// The operands of a loop's wgmma that are descriptors and that it does not change.
SmallVector<Use *, 32> invariantDescriptors(const Loop &loop) {
  SmallVector<Use *, 32> uses;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block)
      if (isWarpGroupDot(i))
        for (Use &use : cast<CallBase>(i).args())
          if (use->getType()->isIntegerTy(64) && loop.isLoopInvariant(use.get())) uses.push_back(&use);
  return uses;
}

/// The sums of an iteration that are the descriptors which its loop does not change.
class SumsOfIteration {
public:
  explicit SumsOfIteration(const Loop &loop)
      : b_(&*std::next(zeroOfIteration(loop)->getIterator())),
        zero_(b_.CreateZExt(zeroOfIteration(loop), b_.getInt64Ty())) {}

  Value *of(Value *descriptor) {
    Value *base;
    ConstantInt *distance;
    if (!match(descriptor, m_Add(m_Value(base), m_ConstantInt(distance)))) return plusZero(descriptor);
    Value *first = plusZero(base); // before its sum
    Value *&sum = sums_[descriptor];
    if (!sum) sum = b_.CreateAdd(first, distance);
    return sum;
  }

private:
  Value *plusZero(Value *v) {
    Value *&sum = sums_[v];
    if (!sum) sum = b_.CreateAdd(v, zero_);
    return sum;
  }

  IRBuilder<> b_;
  Value *zero_; // of 64 bits
  DenseMap<Value *, Value *> sums_;
};

/// The uniform registers of the wgmma that read such descriptors: four for each wgmma, which has two of 64 bits, or two
/// where A is in registers of the threads.
unsigned uniformRegisters(ArrayRef<Use *> descriptors) {
  SmallPtrSet<const User *, 8> statements; // each of several wgmma
  unsigned registers = 0;
  for (const Use *use : descriptors) {
    if (!statements.insert(use->getUser()).second) continue;
    StringRef text = cast<InlineAsm>(cast<CallBase>(use->getUser())->getCalledOperand())->getAsmString();
    bool isFromRegisters = text.contains("}, {"); // after the list of the accumulator
    registers += (isFromRegisters ? 2 : 4) * unsigned(text.count("wgmma.mma_async"));
  }
  return registers;
}

bool computeDescriptorsIn(const Loop &loop, unsigned mostRegisters) {
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch()) return false;
  SmallVector<Use *, 32> uses = invariantDescriptors(loop);
  if (uniformRegisters(uses) <= mostRegisters) return false;
  SumsOfIteration sums(loop);
  for (Use *use : uses) use->set(sums.of(use->get()));
  return true;
}

} // namespace

PreservedAnalyses DescriptorsInLoopsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  bool changed = false;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(f).getLoopsInPreorder())
    changed |= computeDescriptorsIn(*loop, mostRegisters_);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::nvidia
