// Backward slices of layout conversions: what a converted value is computed from can be computed in the wanted layout
// instead. Part of remove-layout-conversions; conversion_slices.cpp says how slices are chosen.
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include "transforms/analyses/pointer_root.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::transforms {

/// Replaces conversions by recomputation, or by conversions further up, wherever that costs less. Every replacement
/// lowers the total cost, so this ends. Returns whether anything changed. `asyncCopies`: loops copy loads for dots to
/// shared memory asynchronously.
bool recomputeConversions(ir::Module &, const ir::Tuning &, bool asyncCopies);

/// Computes values in the layout to which they are converted for a use that had them as they were, if that saves more
/// conversions further up than it costs. Else nothing changes.
/// @pre all conversions are to one layout, and the use's own
bool recomputeForNewUse(ir::Module &, llvm::ArrayRef<ir::ttg::ConvertLayoutOp> conversions, const ir::Tuning &,
                        bool asyncCopies);

/// Whether it is a load of no more elements than there are threads, from what nobody writes, which may as well be done
/// in another layout, or a second time.
bool isNarrowLoad(ir::Operation *, int64_t threads, const GlobalAccesses &);

} // namespace tessera::transforms
