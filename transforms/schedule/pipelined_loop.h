// The loop that tritongpu-pipeline makes of another one by a plan (pipeline.cpp shows its form).
#pragma once
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {

/// Replaces the loop, which is erased.
void buildPipelinedLoop(ir::scf::ForOp, const PipelinePlan &, const ir::TargetInfo &);

} // namespace tessera::transforms
