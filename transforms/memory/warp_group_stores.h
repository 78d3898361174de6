// Stores of tiles by warp groups, each of its own rows (pass tritongpu-warp-group-stores, see warp_group_stores.cpp).
#pragma once
#include "ir/operation.h"
#include <optional>

namespace tessera::transforms {

/// The rows of the box of a descriptor's tensor map: those that the copies of a warp group move at once
/// (kWarpGroupRowsAttr), or 0, the rows of a whole box. Nothing: the descriptor's copies differ.
std::optional<int64_t> rowsOfCopies(ir::Value desc);

} // namespace tessera::transforms
