// How many different elements a thread loads.
#pragma once
#include "ir/ops.h"
#include "layouts/linear_layout.h"
#include "transforms/analyses/axis_info.h"

namespace tessera::transforms {

/// The elements that a thread loads in the layout, without registers that are known to have another's address and mask.
/// @pre the load is of a tensor of pointers, whose shape the layout has
int64_t differentElements(const AxisInfoAnalysis &, ir::tt::LoadOp, const layouts::LinearLayout &);

} // namespace tessera::transforms
