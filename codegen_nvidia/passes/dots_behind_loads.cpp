// The second of two dots in flight is issued when what was read from shared memory before the first one is there.
//
//   %m = load [%a]                                %m = load [%a]
//   wgmma %s, …; commit                           wgmma %s, …; commit
//   wgmma %d, …; commit                    →      asm "@p st.shared [%a], %m" with p = %zero != 0
//   wait for %s; %s - %m …                        wgmma %d, …; commit
//                                                 wait for %s; %s - %m …
//
// In the backward pass of attention the rows' statistics are read like this (transforms/schedule/issue_dots_early.cpp).
// Issued at once, the second dot takes shared memory before these loads, and the tensor cores before the dots that the
// other block of the multiprocessor waits for. Measured: the backward kernel of Triton's tutorial, heads of 64, million
// cycles (NVIDIA H200, 2026-11-30, ncu), with ptxas 12.8 and 13.0: 5.44 and 5.47 with the wait, 5.55 and 5.94 without
// (12.8 waits for these loads by chance: the second dot's accumulators take a register that had their address); causal
// 3.16 and 3.14, 3.10 and 3.11. About 6.1 where the first dot waits, too.
//
// The store is never executed (%zero is zero, which ptxas does not know: zero_of_iteration.h), and would change
// nothing. But its operand has to be there when it is issued, and ptxas moves no dot over it. Loads complete in their
// order, so that the last one stands for all.
//
// What is used before the second dot, or by it, is waited for in any case.
#include "codegen_nvidia/passes/dots_behind_loads.h"
#include "codegen/address_spaces.h"
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/occupancy.h"
#include "codegen_nvidia/passes/zero_of_iteration.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

bool isStatement(const Instruction &i, StringRef opcode) {
  auto *call = dyn_cast<CallBase>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text && StringRef(text->getAsmString()).starts_with(opcode);
}

/// Two dots of a block that are in flight together.
struct TwoDots {
  Instruction *first = nullptr, *firstCommitted = nullptr, *second = nullptr;
};

/// The first dots of the block; no second one if the first is waited for before it.
TwoDots firstDots(BasicBlock &block) {
  TwoDots dots;
  for (Instruction &i : block) {
    if (isWarpGroupDot(i)) {
      if (!dots.first) dots.first = &i;
      if (!dots.firstCommitted) continue; // further rows of the same dot
      dots.second = &i;
      break;
    }
    if (!dots.first) continue;
    if (isStatement(i, "wgmma.wait_group")) break;
    if (!dots.firstCommitted && isStatement(i, "wgmma.commit_group")) dots.firstCommitted = &i;
  }
  return dots;
}

/// Whether the value, or elements of it, are used, and behind the instruction alone, in its block.
bool isUsedBehind(const Instruction &v, const Instruction &at) {
  return !v.use_empty() && all_of(v.users(), [&](const User *user) {
    auto *i = cast<Instruction>(user);
    if (isa<ExtractElementInst>(i)) return isUsedBehind(*i, at);
    return i->getParent() == at.getParent() && at.comesBefore(i);
  });
}

/// The last load from shared memory of 32-bit elements before the first dot whose value is used behind the second one.
LoadInst *lastLoad(const TwoDots &dots) {
  for (Instruction *i = dots.first->getPrevNode(); i; i = i->getPrevNode()) {
    auto *load = dyn_cast<LoadInst>(i);
    if (!load || load->getPointerAddressSpace() != codegen::kSharedSpace) continue;
    if (load->getType()->getScalarSizeInBits() == 32 && isUsedBehind(*load, *dots.second)) return load;
  }
  return nullptr;
}

bool waitForLoads(const Loop &loop, BasicBlock &block) {
  TwoDots dots = firstDots(block);
  LoadInst *load = dots.second ? lastLoad(dots) : nullptr;
  if (!load) return false;
  IRBuilder<> b(dots.firstCommitted->getNextNode());
  Value *element = load->getType()->isVectorTy() ? b.CreateExtractElement(load, uint64_t(0)) : load;
  InlinePtx ptx(b);
  std::string zero = ptx.operand(zeroOfIteration(loop)), address = ptx.operand(load->getPointerOperand()),
              value = ptx.operand(b.CreateBitCast(element, b.getInt32Ty()));
  ptx.emit("{.reg .pred p;\nsetp.ne.u32 p, " + zero + ", 0;\n@p st.shared.b32 [" + address + "], " + value + ";}");
  return true;
}

} // namespace

PreservedAnalyses DotsBehindLoadsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  bool changed = false;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(f).getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->getLoopPreheader() || !loop->getLoopLatch()) continue;
    for (BasicBlock *block : loop->blocks()) changed |= waitForLoads(*loop, *block);
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::nvidia
