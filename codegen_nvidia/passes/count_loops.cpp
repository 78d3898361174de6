// Loops of constant trip count get a counter of their own, which alone decides when they end.
//
//   loop: %i = phi i32 [%column, …], [%i1, %loop]           loop: %c = phi i32 [0, …], [%c1, %loop]
//     … %i …                                                  %i = phi i32 [%column, …], [%i1, %loop]
//     %i1 = add i32 %i, 2048                          →       … %i …
//     %p = icmp ult i32 %i1, 16384                            %i1 = add i32 %i, 2048
//     br i1 %p, label %loop, label %end                       %c1 = add i32 %c, 1
//                                                             %p = icmp ne i32 %c1, 8
//                                                             br i1 %p, label %loop, label %end
//
// ptxas unrolls such loops, whole or by four, which has the loads of several iterations in flight. It has to know the
// trip count for that, and LLVM's loop strength reduction hides it: it shares one register between the counter and what
// is computed from it, such as a column that depends on the thread, or begins at minus one step, which ptxas does not
// see through with 32 bits. Hence the counts are recorded before (RecordTripCountsPass) and the counters made after.
//
// Left alone: loops of matrix instructions, whose unrolling is decided elsewhere (unroll_dot_loops.cpp), loops with
// inner loops, and loops with stores to global memory, before which ptxas moves no load of a later iteration.
#include "codegen_nvidia/passes/count_loops.h"
#include "codegen/address_spaces.h"
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Pass.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

constexpr const char *kTripCount = "tessera.trip_count"; // of a loop's metadata

/// The branch that decides whether a loop continues, if it is the only way out.
BranchInst *decidingBranch(const Loop &loop) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!latch || loop.getExitingBlock() != latch || !loop.getLoopPreheader()) return nullptr;
  auto *branch = dyn_cast<BranchInst>(latch->getTerminator());
  return branch && branch->isConditional() ? branch : nullptr;
}

/// Whether an instruction keeps ptxas from moving the loads of a later iteration before it: inline PTX that writes
/// memory (stores, copies, barriers of copies). Barriers of the block and stores to shared memory do not.
bool ordersLoads(const Instruction &i) {
  if (auto *store = dyn_cast<StoreInst>(&i)) return store->getPointerAddressSpace() != codegen::kSharedSpace;
  auto *call = dyn_cast<CallBase>(&i);
  return call && call->isInlineAsm() && writesMemory(i);
}

bool mayBeUnrolled(const Loop &loop) {
  if (!loop.isInnermost() || !decidingBranch(loop) || getBooleanLoopAttribute(&loop, "llvm.loop.unroll.disable"))
    return false;
  return llvm::none_of(loop.blocks(), [](const BasicBlock *block) {
    return llvm::any_of(*block, [](const Instruction &i) { return ordersLoads(i) || isMatrixInstruction(i); });
  });
}

class CountLoops final : public FunctionPass {
public:
  static char ID;
  CountLoops() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: counters of loops"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.addRequired<LoopInfoWrapperPass>();
    usage.setPreservesCFG();
  }
  bool runOnFunction(Function &f) override {
    bool changed = false;
    for (Loop *loop : getAnalysis<LoopInfoWrapperPass>().getLoopInfo().getLoopsInPreorder())
      if (std::optional<int> trips = getOptionalIntLoopAttribute(loop, kTripCount)) changed |= count(*loop, *trips);
    return changed;
  }

private:
  bool count(Loop &loop, int trips) {
    BranchInst *branch = decidingBranch(loop);
    if (!branch) return false;
    auto *old = dyn_cast<Instruction>(branch->getCondition());
    countTo(unsigned(trips), loop);
    if (old) RecursivelyDeleteTriviallyDeadInstructions(old);
    return true;
  }
};

char CountLoops::ID = 0;

} // namespace

void countTo(unsigned trips, Loop &loop) {
  BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto *branch = cast<BranchInst>(latch->getTerminator());
  IRBuilder<> b(header, header->begin());
  PHINode *counter = b.CreatePHI(b.getInt32Ty(), 2);
  b.SetInsertPoint(branch);
  Value *next = b.CreateAdd(counter, b.getInt32(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  counter->addIncoming(b.getInt32(0), loop.getLoopPreheader());
  counter->addIncoming(next, latch);
  bool staysIfTrue = branch->getSuccessor(0) == header;
  auto predicate = staysIfTrue ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ;
  branch->setCondition(b.CreateICmp(predicate, next, b.getInt32(trips)));
}

PreservedAnalyses RecordTripCountsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(f);
  if (loops.empty()) return PreservedAnalyses::all();
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(f);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!mayBeUnrolled(*loop)) continue;
    unsigned trips = scev.getSmallConstantTripCount(loop); // 0: not a constant
    if (trips > 1 && isInt<32>(trips)) addStringMetadataToLoop(loop, kTripCount, trips);
  }
  return PreservedAnalyses::all();
}

Pass *createCountLoops() { return new CountLoops(); }

} // namespace tessera::nvidia
