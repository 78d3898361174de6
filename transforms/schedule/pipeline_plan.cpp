// What tritongpu-pipeline does to a loop (see pipeline_plan.h; docs/software_pipelining.md shows the result). The plan
// is made in four phases, each of which has a file and says what it hands on:
//
//   1  pipeline_loads.h     LoopLoads      which loads may be issued ahead, and what their addresses need
//   2  pipeline_copies.h    LoopCopies     by asynchronous copies of threads, warps or TMA, or through registers
//      tile_loop.h          TileLoop       whether a loop over tiles around it shares the copies
//   3  pipeline_buffers.h   PipelinePlan   buffers, and iterations ahead, as shared memory and registers allow
//   4  pipeline_order.h     PipelinePlan   where the copies are issued among the dots
//
// A phase that finds a reason against pipelining ends the planning.
#include "transforms/schedule/pipeline_plan.h"
#include "ir/tensor_queries.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/schedule/pipeline_buffers.h"
#include "transforms/schedule/pipeline_copies.h"
#include "transforms/schedule/pipeline_loads.h"
#include "transforms/schedule/pipeline_order.h"
#include <utility>

namespace tessera::transforms {
using namespace ir;

int64_t PipelinedLoad::bytesOfBuffer() const { return totalBytes(bufferType); }

int64_t PipelinePlan::bytesTaken() const {
  int64_t bytes = bytesPerStage * buffers;
  for (auto &a : loads)
    if (a.isLate) bytes -= (buffers - 1) * a.bytesOfBuffer();
  return bytes;
}

int64_t PipelinePlan::bytesOfBuffers(int64_t count) const {
  int64_t bytes = 0;
  for (auto &a : loads)
    if (a.bufferType) bytes += alignedBufferBytes((a.isLate ? 1 : count) * a.bytesOfBuffer());
  return bytes;
}

/// The plan as far as phase 2 knows it.
static PipelinePlan planOf(LoopCopies copies) {
  PipelinePlan plan;
  plan.loads = std::move(copies.from.loads);
  plan.producer = std::move(copies.from.producer);
  plan.hasDots = copies.from.hasDots;
  plan.asyncCopies = copies.asynchronous;
  plan.byWarps = copies.byWarps;
  plan.loadsInPlace = copies.loadsInPlace;
  plan.whyNoAsyncCopies = std::move(copies.whyNoAsyncCopies);
  return plan;
}

std::optional<PipelinePlan> planPipeline(scf::ForOp loop, int64_t stages, const TargetInfo &target,
                                         const AxisInfoAnalysis &axis, std::string &whyNot) {
  std::optional<LoopLoads> loads = findLoopLoads(loop, target, whyNot);
  if (!loads) return std::nullopt;
  std::optional<LoopCopies> copies = chooseLoopCopies(*std::move(loads), loop, target, axis, whyNot);
  if (!copies) return std::nullopt;
  PipelinePlan plan = planOf(*std::move(copies));
  bool copiesBesideDots = plan.asyncCopies && plan.hasDots;
  if (copiesBesideDots) plan.tiles = findTileLoop(loop, plan, plan.whyNoTiles);
  if (!planBuffers(plan, loop, stages, target, whyNot)) return std::nullopt;
  if (copiesBesideDots) orderCopiesAndDots(loop, target, plan);
  return plan;
}

} // namespace tessera::transforms
