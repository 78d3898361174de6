// Values that a loop carries from one iteration to the next.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Drops what is unused in the loop: operations without uses, and loop-carried values that only their own updates use,
/// with these updates. The loop is replaced by another operation if any loop-carried value is dropped.
void dropUnneededCarriedValues(ir::scf::ForOp);

} // namespace tessera::transforms
