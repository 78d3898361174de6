// Order between bulk copies to global memory (TMA) and what a function does after them.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Waits for bulk stores and reductions where a later operation relies on what they write (bulk_store_order.cpp says
/// which does). Returns whether the function changed.
/// @pre descriptors show which memory they reach: tt.make_tensor_descriptor is not lowered
bool orderBulkStores(ir::tt::FuncOp);

} // namespace tessera::transforms
