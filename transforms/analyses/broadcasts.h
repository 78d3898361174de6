// What is computed from smaller tensors.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Whether the value is computed from smaller tensors and from what has any layout, so that these are converted in its
/// place. `depth`: how many operations from where the query began.
bool isMadeOfBroadcasts(ir::Value, unsigned depth = 0);

} // namespace tessera::transforms
