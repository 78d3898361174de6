// Pass tritongpu-pipeline: software pipelining of loops with dots or bulk copies. The loads that feed a loop's dots are
// issued some iterations ahead of them.
// Runs: NVIDIA pipeline (asynchronous copies, or through registers) and AMD pipeline (through registers).
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
// The body is split in two: the *producer* (the loads and the operations that compute their addresses and masks, which
// must not depend on the rest) and the *consumer*. The producer of iteration i + D runs in iteration i, on loop-carried
// values of its own that are D iterations ahead. The prologue runs it D times. Its loads are predicated by
// i < ub - D·s, so that the result is right for any number of iterations, none included.
//
// Asynchronous copies (targets with cp.async; only if all loads have accesses of at least 4 contiguous bytes and zeros
// for masked-off elements, else all go through registers; but narrower loads whose values go to no buffer stay in the
// iteration, beside copies into buffers). D = stages - 1. Each load gets a multi-buffer of D + 1 buffers, one for each
// stage. Layout conversions of loaded values read it directly. If threads compute with the value, it may have something
// else than zeros for masked-off elements: the consumer selects that after it reads the buffer.
//
//   prologue   D times: ttg.async_copy_global_to_local into buffer 0, 1, …; ttg.async_commit_group
//   body       ttg.async_wait {num = D - 1}
//              copy into the buffer that the last iteration read; ttg.async_commit_group
//              consumer on the buffer of its stage
//   epilogue   ttg.async_wait {num = 0}; ttg.local_dealloc
//
// One barrier an iteration, after the wait, separates writers and readers of a buffer (insert-barriers). The order of
// copies and consumer varies:
//
//   - Operands that fit into registers all at once are read before the copies are issued (operandsFirst).
//   - In loops with an asynchronous dot whose accumulator is needed in the same iteration (attention) the copies are
//     issued after that dot, mostly the last one, and before the wait for it (PipelinePlan::copiesAfter).
//   - If all dots are ttng.warp_group_dot that do nothing but accumulate into loop-carried values, or restart from
//     zeros, they stay in flight across the iteration's end (PipelinePlan::dotsInFlight):
//
//       body   ttg.async_wait {num = D - 1}
//              consumer on the buffer of its stage, its dots not waited for
//              ttng.warp_group_dot_wait {pendings = dots of the loop}: those of the last iteration are done
//              copy into the buffer that these read; ttg.async_commit_group
//
//     A left operand that is converted in registers is converted in slices, each under the dots of the others
//     (dot_slices.h). Branches may use an accumulator, as at the end of a tile in a loop over tiles; the branch then
//     waits for it (insert-wgmma-waits), after the copies. A second barrier precedes the copies. Waiting for the next
//     stage first would save it, but issues the copies a latency later: with three stages, 0.77 of the speed on an
//     H200. Computing the addresses of the copies before the wait gains nothing there (0.98 to 1.00 of the speed).
//
// Blocks instead of stages. In loops whose threads compute with a dot's result before the next dot, the matrix unit
// waits for them, but for the dots of other blocks. There the number of stages is lowered, down to two, if more blocks
// fit on a multiprocessor for it. If still more fit with it, right operands of dots whose left operand is computed from
// an earlier dot of the iteration (V of attention) are *late*: each iteration copies its own, into a single buffer.
//
//   body   ttg.async_wait {num = D - 1}
//          late copies of this iteration; ttg.async_commit_group
//          copies of a later iteration; ttg.async_commit_group          (or after a dot, as above)
//          consumer, with ttg.async_wait before the first dot that reads a late buffer
//
// Bulk copies (TMA). Loads through descriptors that stay (triton-nvidia-optimize-descriptor-encoding) are copied by
// one thread into a multi-buffer of the descriptor's layout; an mbarrier per stage signals their arrival. The order of
// copies and consumer is the same as above; loads through pointers in the same loop remain copies of all threads:
//
//   body   ttng.wait_barrier of the stage
//          … ttng.barrier_expect and ttng.async_tma_copy_global_to_local into the buffer that the last iteration read
//
// Loops without dots are pipelined if they load through such descriptors: a bulk copy that is waited for in the
// iteration that issues it costs a latency. Unless the loop has `tt.num_stages`, it gets as many stages as leave room
// for four blocks, and two at least.
//
// Loops over tiles (persistent kernels; tile_loop.h has the conditions). If an asynchronous loop is in a loop whose
// body computes a tile's position before it and stores the tile after it, the buffers belong to the outer loop, and
// the next tile's first copies are issued before the stores of this one. If dots stay in flight, its last D iterations
// issue them, one each, so that as many copies are in flight as anywhere else:
//
//   prologue of the first tile
//   scf.for %tile …     position of the tile (for its stores)
//                       the pipelined loop to ub - D·s, which continues with the buffers of the last tile
//                       position of the next tile
//                       its last D iterations, whose copies are the next tile's, predicated by their existence
//                       ttng.warp_group_dot_wait {pendings = 0}
//                       stores
//
// Otherwise they follow one another after the pipelined loop:
//
//                       the pipelined loop, whose last D iterations issue no copies
//                       position and prologue of the next tile, predicated by its existence
//                       stores
//
// Through registers (other targets, and loops with a load that asynchronous copies cannot do; the latter not if threads
// would hold the values of many narrow loads, see isWorthRegisters). D = 1: the loads of the next iteration are issued
// at the start of the body, and their values are stored at its end, into the other one of two buffers (or the only one,
// if two would leave no memory for a second block whose registers fit). Loads that do not go to a buffer are carried in
// registers. The last iteration, which loads nothing, is peeled, so that no predicate is needed; everything is in an
// scf.if if the loop may have no iteration:
//
//   if lb < ub   prologue: loads of the first iteration
//                loop to ub - s: loads of the next iteration, consumer, stores
//                epilogue: consumer of the last iteration
//
// D = 2 through registers, where a target's stores come between dots (mayLoadTwoAhead of pipeline_plan.cpp): after the
// stores the loads for the iteration after the next one are issued, into the registers that the stores leave. They
// have a whole iteration to arrive, and a predicate, as the last one does not exist:
//
//   if lb < ub   prologue: loads and stores of the first iteration, loads of the second one
//                loop to ub - s: consumer, stores of the next iteration, loads of the one after it
//                epilogue: consumer of the last iteration
//
// Not pipelined: loops with inner loops, with atomics whose result is used, with barriers, with writes to what the
// loads may read (reachDifferentMemory), and loops whose producer would need shared memory or a reduction. The number
// of stages is the option num-stages, or a loop's `tt.num_stages`; at most as many as the loop has iterations, and two
// at least. Where the option is 1, loops whose registers leave room for few warps get two all the same
// (pipeline_blocks.h).
//
// advance_pointers.cpp gives addresses their form first; pipeline_plan.cpp decides what is loaded ahead and how;
// pipeline_blocks.cpp weighs stages against blocks; pipelined_loop.cpp builds the loop.
#include "ir/attribute_names.h"
#include "transforms/passes.h"
#include "transforms/schedule/advance_pointers.h"
#include "transforms/schedule/pipeline_blocks.h"
#include "transforms/schedule/pipelined_loop.h"
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
  if (p.dotsInFlight) s += "; dots overlap the next iteration's";
  if (!p.slicedDots.empty()) s += ", the left operand is converted in slices along K";
  if (p.copiesCrossTiles())
    s += "; the last iterations of a tile issue the next tile's first copies";
  else if (p.tiles.loop)
    s += "; the next tile's first copies are issued before a tile is stored";
  if (!p.whyNoTiles.empty()) s += "; a tile's first copies wait for the stores of the one before: " + p.whyNoTiles;
  if (p.hasBulkCopies()) s += "; blocks of tensors are copied by TMA";
  if (!p.whyFewerStages.empty())
    s += llvm::formatv("; {0} stages were requested: {1}", stages, p.whyFewerStages);
  else if (p.asyncCopies && p.distance < stages - 1)
    s += llvm::formatv("; {0} stages were requested, {1} fit into the {2} bytes that a block has", stages,
                       p.distance + 1, target.sharedMemoryPerBlock);
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
                            {"overlapped", p.dotsInFlight},
                            {"acrossTiles", bool(p.tiles.loop)}};
}

absl::StatusOr<bool> pipelineLoads(Module &m, const PipelineLoadsOptions &o, PassContext &c) {
  if (!c.target) {
    c.diagnostics.error({}, "tritongpu-pipeline needs a target");
    return absl::InvalidArgumentError("no target");
  }
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
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
  for (auto &f : loops)
    if (stagesOf(f) > 1) f = advancePointers(f, changed);
  AxisInfoAnalysis axis(m);
  for (auto f : loops) {
    int64_t stages = stagesOf(f);
    if (stages <= 1) continue;
    Location loc = f->loc();
    bool isAdded = stages > requestedStages(f);
    std::string whyNot;
    auto plan = planPipeline(f, stages, *c.target, axis, whyNot);
    if (isAdded && !(plan && plan->asyncCopies && keepsBlocks(*plan, f, *c.target))) continue;
    if (plan) {
      changed = true;
      Remark done{Remark::Applied, "", "LoopPipelined", loc, "", {}};
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
      c.remark({Remark::Missed, "", "LoopPipelined", loc, "the loop is not pipelined: " + whyNot, {}});
    }
  }
  return changed;
}

} // namespace tessera::transforms
