// Pointers that advance with a loop, for tritongpu-pipeline.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"

namespace tessera::transforms {

/// In a loop whose dots are ttng.warp_group_dot, pointers of loads that feed them become loop-carried values where each
/// iteration only adds an offset that is the same for all elements and iterations, if a thread's registers hold them
/// beside the loop's tensors. Returns the loop, which is replaced if any pointer is; `changed` is set then.
ir::scf::ForOp advancePointers(ir::scf::ForOp, const ir::TargetInfo &, bool &changed);

} // namespace tessera::transforms
