// Moves arithmetic on the result of a masked load after the branch of the load.
//
//   masked: %x = load i32 …;  %y = sitofp %x      →   masked: %x = load i32 …
//   after:  phi [%y, %masked], [0.0, %head]           after:  %p = phi [%x, %masked], [0, %head];  %y = sitofp %p
//
// InstCombine moves it into the branch, since the zeros of the other lanes fold. There it waits for the load before the
// next load is issued. Done only where the arithmetic on a zero gives the value of the lanes that load nothing.
#include "codegen_amd/passes/work_after_branches.h"
#include "codegen/address_spaces.h"
#include "codegen_amd/passes/intrinsics.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"

namespace tessera::amd {
using namespace llvm;

static bool isGlobalLoad(Instruction &i) {
  if (auto *load = dyn_cast<LoadInst>(&i)) return load->getPointerAddressSpace() != codegen::kSharedSpace;
  return isBufferLoad(i);
}

/// Moves the operations between a load and the phi's i-th value after the phi. `other` is the phi's other value.
static bool moveOut(PHINode &phi, unsigned i, Constant *other) {
  BasicBlock *masked = phi.getIncomingBlock(i);
  if (masked->getSinglePredecessor() != phi.getIncomingBlock(1 - i) || masked->getSingleSuccessor() != phi.getParent())
    return false;
  SmallVector<std::pair<Instruction *, unsigned>, 4> chain; // with the operand that comes from the load
  auto *value = dyn_cast<Instruction>(phi.getIncomingValue(i));
  for (;; value = cast<Instruction>(value->getOperand(chain.back().second))) {
    if (!value || value->getParent() != masked || !value->hasOneUse()) return false;
    if (isGlobalLoad(*value)) break;
    if (isa<PHINode>(value) || value->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(value)) return false;
    if (auto *call = dyn_cast<CallBase>(value); call && call->isConvergent()) return false;
    int from = -1;
    for (Use &u : value->operands())
      if (auto *o = dyn_cast<Instruction>(u); o && o->getParent() == masked) {
        if (from >= 0) return false;
        from = int(u.getOperandNo());
      }
    if (from < 0) return false;
    chain.push_back({value, unsigned(from)});
  }
  if (chain.empty()) return false;
  // The lanes that load nothing have the same from a zero.
  Constant *zero = Constant::getNullValue(value->getType()), *folded = zero;
  SimplifyQuery query(phi.getDataLayout(), chain[0].first);
  for (auto &[op, from] : reverse(chain)) {
    SmallVector<Value *, 4> operands(op->operands());
    operands[from] = folded;
    folded = dyn_cast_or_null<Constant>(simplifyInstructionWithOperands(op, operands, query));
    if (!folded) return false;
  }
  if (folded != other) return false;
  auto *loaded = PHINode::Create(value->getType(), 2, "", phi.getIterator());
  loaded->addIncoming(value, masked);
  loaded->addIncoming(zero, phi.getIncomingBlock(1 - i));
  BasicBlock::iterator at = phi.getParent()->getFirstInsertionPt();
  Instruction *last = loaded;
  for (auto &[op, from] : reverse(chain)) {
    op->moveBefore(*phi.getParent(), at);
    op->setOperand(from, last);
    last = op;
  }
  phi.replaceAllUsesWith(last);
  phi.eraseFromParent();
  return true;
}

PreservedAnalyses WorkAfterBranchesPass::run(Function &f, FunctionAnalysisManager &) {
  SmallVector<PHINode *, 16> phis;
  for (BasicBlock &b : f)
    for (PHINode &phi : b.phis())
      if (phi.getNumIncomingValues() == 2) phis.push_back(&phi);
  bool changed = false;
  for (PHINode *phi : phis)
    for (unsigned i = 0; i < 2; ++i) {
      auto *other = dyn_cast<Constant>(phi->getIncomingValue(1 - i));
      if (!other || !moveOut(*phi, i, other)) continue;
      changed = true;
      break;
    }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
