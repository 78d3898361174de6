// Local strides of indices and addresses: by how much an element differs from its neighbour along a dimension, in the
// unit of the value (elements, for a pointer), where quotients and remainders do not wrap between the two. AxisInfo
// proves runs; this says how an access lies where nothing can be proved, since a divisor is no power of two, say:
//
//   y % 49 + (y / 49) * 62720 + x * 49          stride 1 along y, 49 along x
//
// For choices between layouts that are all correct.
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tessera::transforms {

/// The strides of a tensor along its dimensions; nothing where one is not known.
llvm::SmallVector<std::optional<int64_t>, 4> localStrides(ir::Value);

} // namespace tessera::transforms
