// Stages against blocks: how many stages a loop of tritongpu-pipeline gives up so that more blocks fit on a
// multiprocessor.
#pragma once
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {

/// Lowers the plan's distance, and marks loads as late, if more blocks fit for it. Only for loops with asynchronous
/// copies. `otherBytes`: of the block's shared memory, beside the plan's buffers.
void leaveMemoryForBlocks(PipelinePlan &, ir::scf::ForOp, const ir::TargetInfo &, int64_t otherBytes);

} // namespace tessera::transforms
