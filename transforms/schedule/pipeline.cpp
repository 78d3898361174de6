// Pass tritongpu-pipeline: software pipelining of loops with dots or bulk copies. The loads that feed a loop's dots are
// issued some iterations ahead of them.
// Runs: NVIDIA pipeline (asynchronous copies, or through registers) and AMD pipeline (through registers; on
// gfx950 by asynchronous copies of warps, where warp-copy-layouts prepared them).
//
//   scf.for %i = %lb to %ub step %s iter_args(%p = %p0, %acc = %acc0) {
//     %x = tt.load %p
//     %m = ttg.local_alloc %x
//     %a = ttg.local_load %m                                        (and %b likewise)
//     %d = tt.dot %a, %b, %acc
//     %q = tt.addptr %p, %k
//     scf.yield %q, %d
//   }
//
// With asynchronous copies and D = stages - 1:
//
//   prologue   D times: ttg.async_copy_global_to_local into buffer 0, 1, …; ttg.async_commit_group
//   body       ttg.async_wait {num = D - 1}
//              copy into the buffer that the last iteration read; ttg.async_commit_group
//              dots on the buffer of the iteration's stage
//   epilogue   ttg.async_wait {num = 0}; ttg.local_dealloc
//
// docs/software_pipelining.md shows what becomes of the other kinds of loops: through registers, with bulk copies, with
// dots in flight, with late copies, inside a loop over tiles.
//
// Not pipelined: loops with inner loops, with atomics whose result is used, with barriers, with writes to what the
// loads may read (reachDifferentMemory), and loops whose producer would need shared memory or a reduction. The number
// of stages is the option num-stages, or a loop's `tt.num_stages`; at most as many as the loop has iterations, and two
// at least. Where the option is 1, loops whose registers leave room for few warps get two all the same
// (pipeline_blocks.h).
//
// The files of the pass:
//   - prepare: advance_pointers (the form of addresses), carried_accumulators (of dots);
//   - decide: pipeline_plan, with tile_loop (finds loops over tiles), in four phases: pipeline_loads (which loads),
//     pipeline_copies (asynchronous or through registers), pipeline_buffers (how many, with pipeline_blocks: stages
//     against blocks) and pipeline_order (of copies and dots);
//   - build: pipelined_loop (pipelined_loop_builder.h has its parts), with pipelined_accesses, pipelined_tiles and
//     pipelined_carried (loop-carried values by kind), transposed_copies (into buffers across their rows), dot_slices
//     (A operands converted in slices along K), and producer_of_tiles (gives copies of a loop over tiles to a warp).
#include "ir/attribute_names.h"
#include "ir/collect.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "transforms/schedule/advance_pointers.h"
#include "transforms/schedule/carried_accumulators.h"
#include "transforms/schedule/pipeline_blocks.h"
#include "transforms/schedule/pipelined_loop.h"
#include "transforms/schedule/producer_of_tiles.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

/// What was done, for the remark.
static std::string summary(const PipelinePlan &p, int64_t stages, const TargetInfo &target) {
  std::string s = llvm::formatv("{0} of the loop's loads are issued {1} iteration{2} ahead{3}, {4}", p.loads.size(),
                                p.distance, p.distance == 1 ? "" : "s", p.hasDots ? " of their dots" : "",
                                p.asyncCopies ? "by asynchronous copies to shared memory" : "through registers")
                      .str();
  if (p.bytesPerStage)
    s += llvm::formatv("; {0} {1} {2} bytes of shared memory", p.buffers,
                       p.buffers == 1 ? "stage takes" : "stages take", p.bytesTaken());
  if (int64_t late = p.lateLoads())
    s += llvm::formatv("; {0} of them {1} copied at the start of the iteration instead, into one buffer, so that "
                       "another block fits on a multiprocessor",
                       late, late == 1 ? "is" : "are");
  if (!p.asyncCopies && p.bytesPerStage && p.buffers == 1) s += "; two do not fit beside those of another block";
  if (p.refillsStage)
    s += "; an iteration's copies go into the buffers that it has read itself, so that another block fits on a "
         "multiprocessor";
  if (p.dotsInFlight && p.slicedDots.empty()) s += "; dots overlap the next iteration's";
  if (!p.slicedDots.empty()) s += ", the A operand is converted in slices along K";
  if (p.hasProducerWarp)
    s += "; a producer warp issues the copies of all tiles";
  else if (p.copiesCrossTiles())
    s += "; the last iterations of a tile issue the next tile's first copies";
  else if (p.tiles.loop)
    s += "; the next tile's first copies are issued before a tile is stored";
  if (!p.whyNoProducer.empty()) s += "; no producer warp issues them: " + p.whyNoProducer;
  if (!p.whyNoTiles.empty()) s += "; a tile's first copies wait for the stores of the one before: " + p.whyNoTiles;
  if (p.hasBulkCopies()) s += "; blocks of tensors are copied by TMA";
  if (!p.whyFewerStages.empty())
    s += llvm::formatv("; {0} stages were requested: {1}", stages, p.whyFewerStages);
  else if (p.asyncCopies && p.buffers + p.refillsStage < stages)
    s += llvm::formatv("; {0} stages were requested, {1} fit into the {2} bytes that a block has", stages, p.buffers,
                       target.sharedMemoryPerBlock);
  if (p.loadsInPlace)
    s += llvm::formatv("; {0} more stay{1} in the iteration: {2}", p.loadsInPlace, p.loadsInPlace == 1 ? "s" : "",
                       p.whyNoAsyncCopies);
  else if (!p.whyNoAsyncCopies.empty())
    s += "; not by asynchronous copies: " + p.whyNoAsyncCopies;
  return s;
}
static llvm::json::Object facts(const PipelinePlan &p, int64_t stages) {
  return llvm::json::Object{{"loads", int64_t(p.loads.size())},
                            {"distance", p.distance},
                            {"stages", stages},
                            {"buffers", p.buffers},
                            {"bytes", p.bytesTaken()},
                            {"asynchronous", p.asyncCopies},
                            {"overlapped", p.dotsInFlight && p.slicedDots.empty()},
                            {"acrossTiles", bool(p.tiles.loop)},
                            {"producerWarp", p.hasProducerWarp}};
}

/// Whether the loop has loads that threads make, not TMA.
static bool isCopiedByThreads(scf::ForOp loop) {
  return llvm::any_of(*loop.body().front(), [](Operation &op) { return op.is<tt::LoadOp>(); });
}

/// Reports a loop with loads that is left as it is since not more than one stage was requested.
static void reportOneStage(scf::ForOp loop, int64_t requested, PassContext &c) {
  bool hasLoads = llvm::any_of(*loop.body().front(),
                               [](Operation &op) { return op.is<tt::LoadOp>() || op.is<tt::DescriptorLoadOp>(); });
  if (!c.wantsRemarks() || !hasLoads) return;
  const char *option = loop->hasAttr(kNumStagesAttr) ? "its tt.num_stages" : "num-stages";
  c.remark({Remark::Missed,
            "",
            "LoopPipelined",
            loop.op,
            llvm::formatv("the loop is not pipelined: {0} is {1}", option, requested).str(),
            {}});
}

absl::StatusOr<bool> pipelineLoads(Module &m, const PipelineLoadsOptions &o, PassContext &c) {
  if (!c.target) return requiresTarget(c, m, "tritongpu-pipeline");
  auto loops = collect<scf::ForOp>(m.op());
  auto requestedStages = [&](scf::ForOp loop) {
    auto ofLoop = loop->attr<IntegerAttr>(kNumStagesAttr);
    return ofLoop ? ofLoop.sext() : o.numStages;
  };
  auto stagesOf = [&](scf::ForOp loop) {
    int64_t requested = requestedStages(loop);
    return requested == 1 && waitsForLoads(loop, *c.target) ? 2
                                                            : std::min(requested, c.target->tuning.pipelineMaxStages);
  };
  bool changed = false;
  for (auto &f : loops) {
    if (stagesOf(f) <= 1) continue;
    // With two stages, an iteration waits for its copies longer than for the dots before it. Copies by threads take one
    // barrier more where dots are in flight.
    if (stagesOf(f) > 2 && !isCopiedByThreads(f)) changed |= carryAccumulatorsOfDots(f);
    f = advancePointers(f, *c.target, changed);
  }
  AxisInfoAnalysis axis(m);
  for (auto f : loops) {
    int64_t stages = stagesOf(f);
    if (stages <= 1) {
      reportOneStage(f, requestedStages(f), c);
      continue;
    }
    RemarkPlace place(f.op);
    bool isAdded = stages > requestedStages(f);
    std::string whyNot;
    auto plan = planPipeline(f, stages, *c.target, axis, whyNot);
    if (plan && o.producerWarps) planProducerOfTiles(f, *plan, *c.target);
    if (isAdded && !(plan && plan->asyncCopies && keepsBlocks(*plan, f, *c.target))) {
      reportOneStage(f, requestedStages(f), c);
      continue;
    }
    if (plan) {
      changed = true;
      Remark done{Remark::Applied, "", "LoopPipelined", place, "", {}};
      if (c.wantsRemarks()) { // before operations of the plan are replaced
        if (requestedStages(f) > stages && plan->distance == stages - 1)
          plan->whyFewerStages = llvm::formatv("{0} are the most", stages).str();
        done.message = summary(*plan, std::max(stages, requestedStages(f)), *c.target);
        if (isAdded) done.message += "; 1 stage was requested: registers leave too few warps to compute meanwhile";
        done.facts = facts(*plan, stages);
      }
      buildPipelinedLoop(f, *plan, *c.target);
      c.remark(std::move(done));
    } else if (!whyNot.empty()) {
      c.remark({Remark::Missed, "", "LoopPipelined", place, "the loop is not pipelined: " + whyNot, {}});
    }
  }
  return changed;
}

} // namespace tessera::transforms
