// Atomic operations without an instruction become loops over compare-and-swap, which read their first values together.
//
//   atomicrmw fadd %p, %a                            %x = load %p
//   atomicrmw fadd %q, %b                            %y = load %q
//                                                  loop:
//                                              →     %old = phi [%x, …], [%seen, %loop]
//                                                    %seen, %done = cmpxchg %p, %old, (fadd %old, %a)
//                                                  loop2: … the same with %y, %q and %b
//
// LLVM makes the same loops in code generation, each behind its own load: several operations of a thread then take two
// latencies of memory each, one after the other. What the load gives is a guess that the compare-and-swap confirms, so
// it may be read at any time before; if another operation changes the number in between, the loop runs once more.
//
// Limits: operations of 32 and 64 bits that follow each other in a block, with nothing but arithmetic between them that
// does not use their results; at most 16 at a time, as each holds a register or two until its turn. Single operations
// and those of 16 bits are left to LLVM.
//
// Runs: last but one, as nothing is found out about loops after it.
#include "codegen_amd/passes/atomic_loops.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/TargetLowering.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

namespace tessera::amd {
using namespace llvm;

namespace {

using Run = SmallVector<AtomicRMWInst *, 8>;
constexpr size_t kMost = 16;

IntegerType *wordOf(const AtomicRMWInst &rmw) {
  return IntegerType::get(rmw.getContext(), unsigned(rmw.getDataLayout().getTypeSizeInBits(rmw.getType())));
}

bool becomesLoop(AtomicRMWInst &rmw, const TargetLowering &lowering) {
  unsigned bits = wordOf(rmw)->getBitWidth();
  bool isWord = (bits == 32 || bits == 64) && rmw.getAlign().value() * 8 >= bits;
  if (!isWord || rmw.isVolatile() || rmw.getType()->isPointerTy()) return false;
  return lowering.shouldExpandAtomicRMWInIR(&rmw) == TargetLowering::AtomicExpansionKind::CmpXChg;
}

/// Runs of two such operations or more.
SmallVector<Run, 2> findRuns(BasicBlock &block, const TargetLowering &lowering) {
  SmallVector<Run, 2> runs;
  Run run;
  SmallPtrSet<const Value *, 8> results;
  auto end = [&] {
    if (run.size() > 1) runs.push_back(run);
    run.clear();
    results.clear();
  };
  for (Instruction &i : block) {
    if (any_of(i.operands(), [&](const Use &u) { return results.contains(u); })) end();
    auto *rmw = dyn_cast<AtomicRMWInst>(&i);
    if (rmw && becomesLoop(*rmw, lowering)) {
      if (run.size() == kMost) end();
      run.push_back(rmw);
      results.insert(rmw);
    } else if (i.mayReadOrWriteMemory() || i.mayHaveSideEffects() || i.isTerminator()) {
      end();
    }
  }
  return runs;
}

/// The loop of an operation in its place. `first`: the number to start with, as a word.
void expand(AtomicRMWInst &rmw, Value *first) {
  BasicBlock *before = rmw.getParent();
  BasicBlock *after = before->splitBasicBlock(rmw.getIterator(), "after");
  BasicBlock *loop = BasicBlock::Create(rmw.getContext(), "swap", before->getParent(), after);
  before->getTerminator()->setSuccessor(0, loop);
  IRBuilder<> b(loop);
  b.SetCurrentDebugLocation(rmw.getDebugLoc());
  PHINode *old = b.CreatePHI(first->getType(), 2);
  Value *value = buildAtomicRMWValue(rmw.getOperation(), b, b.CreateBitCast(old, rmw.getType()), rmw.getValOperand());
  AtomicCmpXchgInst *swap = b.CreateAtomicCmpXchg(
      rmw.getPointerOperand(), old, b.CreateBitCast(value, first->getType()), rmw.getAlign(), rmw.getOrdering(),
      AtomicCmpXchgInst::getStrongestFailureOrdering(rmw.getOrdering()), rmw.getSyncScopeID());
  Value *seen = b.CreateExtractValue(swap, 0);
  b.CreateCondBr(b.CreateExtractValue(swap, 1), after, loop);
  old->addIncoming(first, before);
  old->addIncoming(seen, loop);
  if (!rmw.use_empty()) {
    b.SetInsertPoint(&rmw);
    rmw.replaceAllUsesWith(b.CreateBitCast(seen, rmw.getType()));
  }
  rmw.eraseFromParent();
}

void expand(const Run &run) {
  Instruction *first = run.front();
  for (Instruction *i = first->getNextNode(), *next; i != run.back(); i = next) {
    next = i->getNextNode();
    if (!isa<AtomicRMWInst>(i)) i->moveBefore(first->getIterator());
  }
  IRBuilder<> b(first);
  SmallVector<Value *, 8> values;
  for (AtomicRMWInst *rmw : run) {
    LoadInst *load = b.CreateAlignedLoad(wordOf(*rmw), rmw->getPointerOperand(), rmw->getAlign());
    load->setAtomic(AtomicOrdering::Monotonic, rmw->getSyncScopeID());
    values.push_back(load);
  }
  for (auto [rmw, value] : zip(run, values)) expand(*rmw, value);
}

} // namespace

PreservedAnalyses AtomicLoopsPass::run(Function &f, FunctionAnalysisManager &) {
  const TargetLowering &lowering = *tm_.getSubtargetImpl(f)->getTargetLowering();
  SmallVector<Run, 2> runs;
  for (BasicBlock &block : f) runs.append(findRuns(block, lowering));
  for (const Run &run : runs) expand(run);
  return runs.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace tessera::amd
