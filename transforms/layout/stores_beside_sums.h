// Stores of vectors that are computed from sums of rows, done in the layout of the sums
// (tritongpu-remove-layout-conversions).
#pragma once
#include "ir/operation.h"
#include "ir/tuning.h"

namespace tessera::transforms {

/// Stores whose value is computed from a converted value take the layout from before the conversion, where that costs
/// less. `accessBytes`: of the widest access to global memory; `asyncCopies`: as for recomputeConversions. Whether any
/// does.
bool storeBesideSums(ir::Module &, const ir::Tuning &, int64_t accessBytes, bool asyncCopies);

} // namespace tessera::transforms
