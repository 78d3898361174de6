// Gives offsets of buffer accesses their constants back as immediates.
//
//   select %m, (%o + 8), 0x80000008   →   (select %m, %o, 0x80000000) + 8
//
// The lowering chooses the offset of a lane that is masked off, beyond the end, before it adds the constant
// (lowering_memory.cpp). InstCombine adds the constant to both choices, which then take two instructions more for each
// access of a tensor whose elements have masks of their own. No InstCombine may follow.
#include "codegen_amd/passes/buffer_immediates.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;

PreservedAnalyses BufferImmediatesPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &i : instructions(f)) {
    auto operands = bufferOperands(i);
    if (!operands || !operands->takesImmediate()) continue;
    auto *call = cast<IntrinsicInst>(&i);
    unsigned at = operands->offset;
    auto *select = dyn_cast<SelectInst>(call->getArgOperand(at));
    auto *beyond = select ? dyn_cast<ConstantInt>(select->getFalseValue()) : nullptr;
    if (!beyond || beyond->getZExtValue() <= kBeyondBuffers ||
        beyond->getZExtValue() >= kBeyondBuffers + kBufferImmediates)
      continue;
    Value *inside = nullptr;
    using namespace PatternMatch;
    if (!match(select->getTrueValue(),
               m_AddLike(m_Value(inside), m_SpecificInt(beyond->getZExtValue() - kBeyondBuffers))))
      continue;
    IRBuilder<> b(call);
    Value *o = b.CreateSelect(select->getCondition(), inside, b.getInt32(kBeyondBuffers));
    call->setArgOperand(at, b.CreateAdd(o, b.getInt32(beyond->getZExtValue() - kBeyondBuffers)));
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
