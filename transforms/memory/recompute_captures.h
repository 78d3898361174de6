// Values that partitions compute again instead of capturing them (see recompute_captures.cpp).
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Lets the partitions of the operation compute what they capture where that is a few operations on scalars. Returns
/// whether anything changed.
bool recomputeCaptures(ir::ttg::WarpSpecializeOp);

} // namespace tessera::transforms
