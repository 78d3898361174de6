// Accumulators that a loop carries as its dots have them, for tritongpu-pipeline.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Lets the loop carry the accumulators of its ttng.warp_group_dots by the name that these use, where both operands are
/// in shared memory. Returns whether anything changed.
bool carryAccumulatorsOfDots(ir::scf::ForOp);

} // namespace tessera::transforms
