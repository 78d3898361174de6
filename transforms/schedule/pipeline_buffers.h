// Phase 3 of planning a pipelined loop (pipeline_plan.h): the buffers of the copies, and how many iterations ahead
// these are issued.
//
// The distance begins with the requested number of stages. It shrinks to the iterations of the loop, to the shared
// memory of a block, and where one more resident block hides more latency than one more stage (pipeline_blocks.h).
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "transforms/schedule/pipeline_plan.h"
#include <string>

namespace tessera::transforms {

/// Sets the plan's `distance`, `buffers` and what else it says of buffers, and those of its loads; drops `tiles` if
/// their stores leave too little shared memory.
/// @pre the plan has its loads, how they are copied, and the loop over tiles
/// False: the buffers do not fit, and `whyNot` is the reason.
bool planBuffers(PipelinePlan &, ir::scf::ForOp, int64_t stages, const ir::TargetInfo &, std::string &whyNot);

} // namespace tessera::transforms
