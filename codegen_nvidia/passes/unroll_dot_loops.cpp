// Unrolls loops of warp-group dots with a constant count by their buffers.
//
//   loop (32 iterations, buffers 0, 1, 2, 0, …):       two iterations;
//     wgmma buffer %i;  copy to buffer %j         →    loop (10 iterations), `.pragma "nounroll"`:
//     %i = %i == 2 ? 0 : %i + 1; …                       wgmma buffer 2; copy …;  wgmma buffer 0; …;  wgmma buffer 1; …
//
// Buffers, and with them descriptors and addresses in shared memory, are constants then, and addresses in global memory
// are computed once for all copies. ptxas does as much by unrolling short loops whole, which it is left to do where
// they have few wgmma instructions: it takes time with the square of them, 3.2 s for 128 of 64 x 128 x 16, and 0.15 s
// for the 20 of the loop above.
#include "codegen_nvidia/passes/unroll_dot_loops.h"
#include "codegen/object/loop_unroller.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include <numeric>

namespace tessera::nvidia {
using namespace llvm;

namespace {

/// After how many iterations, `most` at most, all buffer indices are what they were.
unsigned periodOf(const Loop &loop, unsigned most) {
  unsigned period = 1;
  for (const PHINode &phi : loop.getHeader()->phis())
    if (unsigned both = std::lcm(period, codegen::iterationsUntilRepeated(phi, loop, most)); both <= most)
      period = both;
  return period;
}

/// Whether ptxas knows a value in each iteration of an unrolled loop: it comes from counters and constants alone.
bool isKnown(Value *v, const Loop &loop, unsigned depth = 0) {
  constexpr unsigned kDeepest = 6;
  if (isa<Constant>(v)) return true;
  auto *i = dyn_cast<Instruction>(v);
  if (!i || !loop.contains(i) || depth == kDeepest) return false;
  if (auto *phi = dyn_cast<PHINode>(i))
    return phi->getParent() == loop.getHeader() &&
           isa<Constant>(phi->getIncomingValueForBlock(loop.getLoopPreheader()));
  return isa<BinaryOperator, CmpInst, CastInst, SelectInst>(i) &&
         llvm::all_of(i->operands(), [&](Value *operand) { return isKnown(operand, loop, depth + 1); });
}

struct LoopSize {
  unsigned instructions = 0;
  unsigned dots = 0; // wgmma instructions
  unsigned held = 0; // registers of accumulators and of the addresses of copies
  bool hasMasks = false;
};

LoopSize sizeOf(const Loop &loop) {
  LoopSize size;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      size.instructions += !isa<PHINode, ExtractValueInst>(i);
      size.hasMasks |= isa<ICmpInst>(i) && !isKnown(&i, loop);
      auto *call = dyn_cast<CallBase>(&i);
      auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!text) continue;
      if (StringRef(text->getAsmString()).contains("cp.async.cg.shared.global")) size.held += 2;
      if (!isWarpGroupDot(*call)) continue;
      size.held += cast<StructType>(call->getType())->getNumElements();
      unsigned dots = unsigned(StringRef(text->getAsmString()).count("wgmma.mma_async"));
      size.dots += dots;
      size.instructions += dots;
    }
  return size;
}

/// Whether a loop is unrolled by so many buffers: ptxas would not unroll it whole, or take long. Loops that hold more
/// registers stay as they are: with addresses that are kept from one iteration to the next they would spill.
bool gains(const LoopSize &size, unsigned trips, unsigned buffers, const ir::Tuning &tuning) {
  constexpr unsigned kLeftAlone = 2; // buffers of loops that ptxas does not unroll
  if (buffers < 2 || trips / buffers < 2 || size.held > tuning.mostHeldByUnrolledDots) return false;
  unsigned most = size.hasMasks ? tuning.ptxasUnrolledWithMasks : tuning.ptxasUnrolledInstructions;
  bool isUnrolledByPtxas = buffers > kLeftAlone && trips * size.instructions <= most;
  return isUnrolledByPtxas ? trips * size.dots > tuning.mostUnrolledDots
                           : trips >= buffers * tuning.unrollDotLoopsLeastLeft;
}

} // namespace

PreservedAnalyses UnrollDotLoopsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(f);
  if (loops.empty()) return PreservedAnalyses::all();
  codegen::LoopUnroller unroller(f, analyses);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    bool isPlain = loop->isInnermost() && loop->isLoopSimplifyForm() && loop->getExitingBlock() == loop->getLoopLatch();
    if (!isPlain) continue;
    LoopSize size = sizeOf(*loop);
    unsigned trips = size.dots ? unroller.evolution().getSmallConstantTripCount(loop) : 0;
    if (!trips) continue;
    unsigned count = periodOf(*loop, tuning_->unrollDotLoopsMaxBuffers);
    unsigned rest = trips % count;
    if (!gains(size, trips, count, *tuning_) || (rest && !canPeel(loop))) continue;
    if (rest) unroller.peel(*loop, rest);
    unroller.unroll(*loop, count, codegen::LoopUnroller::TripCount::Divisible);
    loop->setLoopAlreadyUnrolled(); // LLVM writes it as `.pragma "nounroll"`
    changed = true;
  }
  if (!changed) return PreservedAnalyses::all();
  analyses.invalidate(f, PreservedAnalyses::none());
  SCCPPass().run(f, analyses); // the buffers of each iteration: cycles of constants that hold by each other
  return PreservedAnalyses::none();
}

} // namespace tessera::nvidia
