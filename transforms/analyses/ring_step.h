// The step from one slot of a ring of buffers to the next, as the pipeline writes it and passes after it find it again.
#pragma once
#include "ir/operation.h"
#include <optional>

namespace tessera::transforms {

struct RingStep {
  ir::Value from;    // the slot before
  int64_t slots = 0; // of the ring
};

/// What a slot's number is the successor of: `select(i + 1 >= n, 0, i + 1)` of i, with n a constant; nothing for
/// other values.
std::optional<RingStep> ringStep(ir::Value);

} // namespace tessera::transforms
