// Backward slices of layout conversions: what a converted value is computed from can be computed in the wanted layout
// instead. Part of remove-layout-conversions; conversion_slices.cpp says how slices are chosen.
#pragma once
#include "ir/operation.h"
#include "ir/tuning.h"

namespace tessera::transforms {

/// Replaces conversions by recomputation, or by conversions further up, wherever that costs less. Every replacement
/// lowers the total cost, so this ends. Returns whether anything changed. `asyncCopies`: loops copy loads for dots to
/// shared memory asynchronously.
bool recomputeConversions(ir::Module &, const ir::Tuning &, bool asyncCopies);

} // namespace tessera::transforms
