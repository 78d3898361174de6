// A producer warp for a loop over tiles: a warp of its own issues the copies of all tiles, and the kernel's own warps
// are left with dots and stores (see producer_of_tiles.cpp). Part of tritongpu-pipeline.
#pragma once
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {

/// Sets PipelinePlan::hasProducerWarp, or whyNoProducer to the reason why the loop, which is pipelined in one over
/// tiles by bulk copies, gets none.
void planProducerOfTiles(ir::scf::ForOp, PipelinePlan &, const ir::TargetInfo &);

} // namespace tessera::transforms
