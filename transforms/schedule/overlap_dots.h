// Whether overlap-dots (overlap_dots.cpp) would change a loop. Warps are specialised for loops in which it would.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include <string>

namespace tessera::transforms {

/// Why no dots of an iteration would run under the work of the next one, if copies into the buffers that they read left
/// the loop; empty: they would. `registers`: of 32 bits, what a thread has.
std::string whyNoOverlapOfDots(ir::scf::ForOp, const ir::TargetInfo &, int64_t registers);

} // namespace tessera::transforms
