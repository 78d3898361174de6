// Building the loop that tritongpu-pipeline has planned (docs/software_pipelining.md shows its form).
#pragma once
#include "transforms/schedule/pipeline_plan.h"

namespace tessera::transforms {

/// Replaces the loop, which is erased.
void buildPipelinedLoop(ir::scf::ForOp, const PipelinePlan &, const ir::TargetInfo &);

} // namespace tessera::transforms
