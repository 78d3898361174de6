// Moves arithmetic on the result of a masked load after the branch of the load.
//
//   masked: %x = load i32 …;  %y = sitofp %x      →   masked: %x = load i32 …
//   after:  phi [%y, %masked], [0.0, %head]           after:  %p = phi [%x, %masked], [0, %head];  %y = sitofp %p
//
// InstCombine moves it into the branch, since the constant of the other lanes folds. There it waits for the load before
// the next load is issued, and where it is a comparison, lanes' bits are merged behind the branch. Done only where a
// number is found from which the arithmetic gives the value of the lanes that load nothing: a zero mostly; a one for
// `tl.where(tl.load(p, m, other=1) != 0, x, y)`, which is x there; and the other format's infinity for
// `tl.load(p, m, other=-inf).to(tl.float32)`.
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

/// An operation between a load and a phi, with the operand that comes from the load.
using Link = std::pair<Instruction *, unsigned>;

/// The constant in another type, if it is a number there; what is lost is found when it is folded back.
static Constant *converted(Constant &c, Type *to) {
  Type *type = to->getScalarType();
  Constant *number = c.getType()->isVectorTy() ? c.getSplatValue() : &c, *result = nullptr;
  if (auto *i = dyn_cast_or_null<ConstantInt>(number); i && type->isIntegerTy()) {
    result = ConstantInt::get(type, i->getValue().sextOrTrunc(type->getIntegerBitWidth()));
  } else if (auto *f = dyn_cast_or_null<ConstantFP>(number)) {
    bool lost;
    if (type->isFloatingPointTy()) {
      APFloat value = f->getValueAPF();
      value.convert(type->getFltSemantics(), APFloat::rmNearestTiesToEven, &lost);
      result = ConstantFP::get(type, value);
    } else if (type->isIntegerTy()) {
      APSInt value(type->getIntegerBitWidth(), false);
      if (f->getValueAPF().convertToInteger(value, APFloat::rmTowardZero, &lost) != APFloat::opInvalidOp)
        result = ConstantInt::get(type, value);
    }
  }
  auto *vector = dyn_cast<FixedVectorType>(to);
  return vector && result ? ConstantVector::getSplat(vector->getElementCount(), result) : result;
}

/// A number that the operations turn into `other`; null if none of those that are tried does.
static Constant *preimage(ArrayRef<Link> chain, Type *type, Value *other) {
  SmallVector<Constant *, 8> tried = {Constant::getNullValue(type)};
  auto add = [&](Constant *c) {
    if (c) tried.push_back(c);
  };
  if (auto *constant = dyn_cast<Constant>(other)) add(converted(*constant, type));
  // A comparison is true and false for a number that it compares with and its neighbours.
  for (auto &[op, from] : chain) {
    if (!isa<CmpInst>(op)) continue;
    auto *c = dyn_cast<Constant>(op->getOperand(1 - from));
    if (!c) continue;
    add(converted(*c, type));
    if (!type->isIntegerTy() || !isa<ConstantInt>(c)) continue;
    for (int step : {1, -1})
      add(converted(*ConstantInt::get(c->getType(), cast<ConstantInt>(c)->getValue() + step), type));
  }
  // What holds for the lanes that load may not hold for the others: neither the branch's condition nor a flag.
  SimplifyQuery query(chain[0].first->getDataLayout(), nullptr, nullptr, nullptr, nullptr, /*UseInstrInfo=*/false,
                      /*CanUseUndef=*/false);
  auto folded = [&](Instruction *op, unsigned from, Value *operand) {
    SmallVector<Value *, 4> operands(op->operands());
    operands[from] = operand;
    Instruction *plain = op->clone();
    plain->insertBefore(op->getIterator());
    plain->dropPoisonGeneratingAnnotations();
    Value *result = simplifyInstructionWithOperands(plain, operands, query);
    plain->eraseFromParent();
    return result;
  };
  for (Constant *number : tried) {
    Value *result = number;
    for (auto &[op, from] : reverse(chain))
      if (result) result = folded(op, from, result);
    if (result == other) return number;
  }
  return nullptr;
}

/// Moves the operations between a load and the phi's i-th value after the phi.
static bool moveOut(PHINode &phi, unsigned i) {
  BasicBlock *masked = phi.getIncomingBlock(i);
  if (masked->getSinglePredecessor() != phi.getIncomingBlock(1 - i) || masked->getSingleSuccessor() != phi.getParent())
    return false;
  SmallVector<Link, 4> chain;
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
  Constant *number = preimage(chain, value->getType(), phi.getIncomingValue(1 - i));
  if (!number) return false;
  auto *loaded = PHINode::Create(value->getType(), 2, "", phi.getIterator());
  loaded->addIncoming(value, masked);
  loaded->addIncoming(number, phi.getIncomingBlock(1 - i));
  BasicBlock::iterator at = phi.getParent()->getFirstInsertionPt();
  Instruction *last = loaded;
  for (auto &[op, from] : reverse(chain)) {
    op->moveBefore(*phi.getParent(), at);
    op->dropPoisonGeneratingAnnotations();
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
    if (moveOut(*phi, 0) || moveOut(*phi, 1)) changed = true;
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
