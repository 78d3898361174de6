// A zero that LLVM and ptxas do not know to be one (see zero_of_iteration.h): a number that alternates between 0 and 1,
// shifted to the right by inline PTX. Nothing else writes that text, by which an earlier one is found.
#include "codegen_nvidia/passes/zero_of_iteration.h"
#include "codegen_nvidia/inline_ptx.h"
#include "llvm/IR/InlineAsm.h"

namespace tessera::nvidia {
using namespace llvm;

static constexpr StringLiteral kZero = "shr.u32 $0, $1, 1;"; // of a number that is 0 or 1

static Instruction *findZero(BasicBlock &header) {
  for (Instruction &i : header) {
    auto *call = dyn_cast<CallBase>(&i);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    if (text && text->getAsmString() == kZero && isa<PHINode>(call->getArgOperand(0))) return call;
  }
  return nullptr;
}

Instruction *zeroOfIteration(const Loop &loop) {
  BasicBlock *header = loop.getHeader();
  if (Instruction *zero = findZero(*header)) return zero;
  IRBuilder<> b(header, header->begin());
  PHINode *toggle = b.CreatePHI(b.getInt32Ty(), 2);
  toggle->addIncoming(b.getInt32(0), loop.getLoopPreheader());
  b.SetInsertPoint(header, header->getFirstInsertionPt());
  InlinePtx ptx(b);
  ptx.addResults(b.getInt32Ty(), 1);
  ptx.operand(toggle);
  CallInst *zero = ptx.emit(kZero, InlinePtx::Effects::None);
  b.SetInsertPoint(loop.getLoopLatch()->getTerminator());
  toggle->addIncoming(b.CreateXor(toggle, b.getInt32(1)), loop.getLoopLatch());
  return zero;
}

} // namespace tessera::nvidia
