// Unrolls loops that load and write nothing, so that the loads of several iterations are in flight together.
//
//   loop:                                        loop:
//     %s = phi [0, %before], [%sum, %loop]         %v0 = load …, %v1 = load …, %v2 = load …, %v3 = load …
//     %v = load %p + 4 * %i                   →    %sum = %s + %v0 + %v1 + %v2 + %v3, one after the other
//     %sum = %s + %v                               br %four more, %loop, %rest
//     br %more, %loop, %after                    rest: up to three iterations, each behind a branch
//
// An iteration that waits for what it loads takes at least the latency of memory, 600 to 1,000 clocks, and LLVM moves
// no load into the iteration before. In a copy of the body LLVM's scheduler moves the loads up, within the registers
// that it has. The order of additions does not change.
//
// A loop of a constant count is unrolled whole, or by a divisor of the count, as far as the registers of its loads and
// its instructions allow; any other, also by a prime, by unrollLoadsCopies. LLVM's own unroller runs before: it
// takes loops of a constant count that are short enough, and counts instructions that redundancy is not removed from
// yet, so that 17 iterations of 20 instructions are too many for it.
//
// Limits: loops without inner loops, with one exit, at their end. Loops that write memory or LDS, or have a barrier or
// a fence, stay: no load moves up across those. Loops whose count is no constant stay if lanes exchange values in them:
// the iterations that are left over are behind branches.
//
// Runs: among the optimisations of levels 2 and 3, after loops are rotated and before redundancy is removed.
#include "codegen_amd/passes/unroll_loads.h"
#include "codegen/address_spaces.h"
#include "codegen/object/loop_unroller.h"
#include "codegen_amd/passes/intrinsics.h"
#include "ir/target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::amd {
using namespace llvm;
using codegen::LoopUnroller;

namespace {

/// What decides whether, and by how much, a loop is unrolled.
struct Body {
  unsigned instructions = 0;
  unsigned loadedRegisters = 0; // of a lane, by one iteration; those of scalar loads count as well
  bool writes = false;          // memory, LDS, or by a barrier or fence what other threads see of them
  bool exchangesLanes = false;
};

struct Unrolling {
  unsigned copies = 1;
  LoopUnroller::TripCount trips = LoopUnroller::TripCount::Divisible;
};

} // namespace

/// The registers of a value that is loaded from global memory; 0 for all other instructions.
static unsigned registersLoaded(const Instruction &i) {
  auto *load = dyn_cast<LoadInst>(&i);
  bool fromPointer = load && load->isSimple() &&
                     is_contained({codegen::kGlobalSpace, codegen::kConstantSpace}, load->getPointerAddressSpace());
  if (!fromPointer && !isBufferLoad(i)) return 0;
  const DataLayout &layout = i.getDataLayout();
  return unsigned(divideCeil(layout.getTypeSizeInBits(i.getType()).getFixedValue(), uint64_t(ir::kWordBits)));
}

static Body bodyOf(const Loop &loop) {
  Body body;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      if (isa<PHINode>(i)) continue;
      auto *call = dyn_cast<CallBase>(&i);
      unsigned registers = registersLoaded(i);
      ++body.instructions;
      body.loadedRegisters += registers;
      body.writes |= !registers && i.mayWriteToMemory();
      body.exchangesLanes |= call && call->isConvergent();
    }
  return body;
}

static Unrolling unrollingOf(const Loop &loop, ScalarEvolution &evolution, const ir::Tuning &tuning) {
  bool hasOneExit = loop.isLoopSimplifyForm() && loop.getExitingBlock() == loop.getLoopLatch();
  if (!loop.isInnermost() || !hasOneExit) return {};
  Body body = bodyOf(loop);
  if (body.writes || !body.loadedRegisters) return {};
  unsigned most = std::min(tuning.unrollLoadsMaxInstructions / body.instructions,
                           tuning.unrollLoadsMaxRegisters / body.loadedRegisters);
  if (most < 2) return {};
  if (unsigned trips = evolution.getSmallConstantTripCount(&loop)) {
    unsigned copies = std::min(most, trips);
    while (trips % copies) --copies;
    if (copies > 1) return {copies, LoopUnroller::TripCount::Divisible};
  }
  bool isCounted = !isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop));
  if (!isCounted || body.exchangesLanes || most < tuning.unrollLoadsCopies) return {};
  return {tuning.unrollLoadsCopies, LoopUnroller::TripCount::Any};
}

PreservedAnalyses UnrollLoadsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  LoopUnroller unroller(f, analyses);
  bool changed = false;
  for (Loop *loop : unroller.loops().getLoopsInPreorder()) { // unrolled loops are innermost: no other goes with them
    Unrolling unrolling = unrollingOf(*loop, unroller.evolution(), tuning_);
    if (unrolling.copies == 1) continue;
    changed |= unroller.unroll(*loop, unrolling.copies, unrolling.trips) != LoopUnrollResult::Unmodified;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
