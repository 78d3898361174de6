// Masks of loads that say by themselves whether a loop has the iteration.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Whether the mask, computed in the loop's body, is false in all elements for the first `ahead` iterations after the
/// loop's last one. False: not known.
bool isFalseAfterLoop(ir::Value mask, ir::scf::ForOp loop, int64_t ahead);

} // namespace tessera::transforms
