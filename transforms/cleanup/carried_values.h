// Values that a loop carries from one iteration to the next.
#pragma once
#include "ir/loops.h"
#include "ir/ops.h"

namespace tessera::transforms {

/// Drops what is unused in the loop: operations without uses, and loop-carried values that only their own updates use,
/// with these updates. The loop is replaced by another operation if any loop-carried value is dropped.
void dropUnneededCarriedValues(ir::scf::ForOp);

/// Lets the loop carry one value more, which starts as `init` and is yielded as it is. The loop is replaced by another
/// operation, its body remains.
ir::CarriedValue carryMore(ir::scf::ForOp, ir::Value init);

} // namespace tessera::transforms
