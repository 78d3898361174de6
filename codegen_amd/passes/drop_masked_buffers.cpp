// Removes buffer accesses that no lane does because their mask turned out to be false.
//
//   %v = call raw.ptr.buffer.load(%resource, i32 0x80000000, …);  use %v   →   use 0
//
// The lowering gives lanes that are masked off an offset beyond the end of the buffer (lowering_memory.cpp). Where that
// offset became a constant, a load gives zero and a store writes nothing.
#include "codegen_amd/passes/drop_masked_buffers.h"
#include "codegen_amd/passes/buffer_operands.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

namespace tessera::amd {
using namespace llvm;

PreservedAnalyses DropMaskedBuffersPass::run(Function &f, FunctionAnalysisManager &) {
  SmallVector<IntrinsicInst *, 8> dropped;
  for (Instruction &i : instructions(f)) {
    auto operands = bufferOperands(i);
    if (!operands || operands->isCopy) continue; // a copy writes zeros to LDS
    auto *call = cast<IntrinsicInst>(&i);
    auto *offset = dyn_cast<ConstantInt>(call->getArgOperand(operands->offset));
    if (offset && offset->isNegative()) dropped.push_back(call); // from 2^31 on: beyond the end
  }
  for (IntrinsicInst *call : dropped) {
    if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
  return dropped.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace tessera::amd
