// Warp groups of a kernel's own warps beside partitions: barriers of each by itself (warp_group_stores.cpp), and
// ping-pong (turns; overlap_dots.cpp).
//
// Ping-pong: one group after the other executes what is between takeTurn and passTurn. Group g waits at a barrier of
// its own at which group g - 1 arrives without waiting, so that each barrier is for the threads of two groups:
//
//   beginTurns      the last group arrives at barrier 0
//   for …
//     takeTurn      group g waits at barrier g
//     dots
//     passTurn      group g arrives at barrier g + 1, the last one at barrier 0
//   endTurns        group 0 waits at barrier 0, then arrives at the last group's; the last group waits there
//
// All arrivals are consumed then. The last group waits so that it does not arrive at barrier 0 for a next loop before
// group 0 has waited there for this one: the two arrivals would be all that the barrier counts. All groups run the same
// number of iterations. PTX ISA, "bar, barrier": the threads that wait and those that arrive are counted together.
#include "transforms/memory/warp_groups.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"

namespace tessera::codegen {
using namespace ir;
using transforms::kWarpGroup;

llvm::Value *FunctionLowering::warpGroup() { return b.CreateLShr(warpId(), llvm::Log2_64(uint64_t(kWarpGroup))); }

llvm::Value *FunctionLowering::leaderOfWarpGroup() {
  llvm::Value *isFirst = b.CreateICmpEQ(b.CreateAnd(warpId(), i32(kWarpGroup - 1)), i32(0));
  return b.CreateAnd(target.electThread(b), isFirst);
}

// ---- barriers ----

int64_t FunctionLowering::warpGroups() const { return partition_.numWarps / kWarpGroup; }

llvm::Value *FunctionLowering::barrierOfGroup(llvm::Value *group, GroupBarrier kind) {
  return b.CreateAdd(group, i32(specialized_->firstGroupBarrier + int64_t(kind) * warpGroups()));
}

bool FunctionLowering::hasGroupBarriers(Operation *op, GroupBarrier kind) {
  if (!specialized_ || inPartition() || partition_.numWarps % kWarpGroup)
    return error(op, "needs barriers of warp groups; only those of a kernel's own warps beside partitions have some");
  if (specialized_->firstGroupBarrier + (int64_t(kind) + 1) * warpGroups() > target.info().namedBarriers)
    return error(op, "needs barriers of warp groups; there are no named barriers for " + llvm::Twine(warpGroups()) +
                         " beside those of partitions");
  return true;
}

bool FunctionLowering::warpGroupBarrier(Operation *op) {
  if (!hasGroupBarriers(op, GroupBarrier::Alone)) return false;
  target.namedBarrier(b, barrierOfGroup(warpGroup(), GroupBarrier::Alone), unsigned(kWarpGroup * context_.warpSize),
                      /*onePlace=*/true);
  return true;
}

// ---- ping-pong (turns) ----

void FunctionLowering::inGroup(int64_t group, llvm::function_ref<void()> emit) {
  auto *branch = b.CreateCondBr(b.CreateICmpEQ(warpGroup(), i32(group)), newBlock("group"), nullptr);
  b.SetInsertPoint(branch->getSuccessor(0));
  emit();
  llvm::BasicBlock *after = newBlock("groups");
  b.CreateBr(after);
  branch->setSuccessor(1, after);
  b.SetInsertPoint(after);
}

bool FunctionLowering::beginTurns(Operation *loop) {
  if (!hasGroupBarriers(loop, GroupBarrier::Turn)) return false;
  inGroup(warpGroups() - 1, [&] { giveTurn(i32(0)); });
  return true;
}

void FunctionLowering::takeTurn() {
  target.namedBarrier(b, barrierOfGroup(warpGroup(), GroupBarrier::Turn), unsigned(2 * kWarpGroup * context_.warpSize),
                      /*onePlace=*/true);
}

void FunctionLowering::giveTurn(llvm::Value *group) {
  target.arriveAtNamedBarrier(b, barrierOfGroup(group, GroupBarrier::Turn),
                              unsigned(2 * kWarpGroup * context_.warpSize));
}

void FunctionLowering::passTurn() {
  llvm::Value *next = b.CreateAdd(warpGroup(), i32(1));
  giveTurn(b.CreateSelect(b.CreateICmpEQ(next, i32(warpGroups())), i32(0), next));
}

void FunctionLowering::endTurns() {
  inGroup(0, [&] {
    takeTurn();
    giveTurn(i32(warpGroups() - 1));
  });
  inGroup(warpGroups() - 1, [&] { takeTurn(); });
}

} // namespace tessera::codegen
