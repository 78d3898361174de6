// How many different elements a thread loads, and by how wide accesses.
#pragma once
#include "ir/ops.h"
#include "layouts/encoding.h"
#include "layouts/linear_layout.h"
#include "transforms/analyses/axis_info.h"

namespace tessera::transforms {

/// The elements that a thread loads in the layout, without registers that are known to have another's address and mask.
/// @pre the load is of a tensor of pointers, whose shape the layout has
int64_t differentElements(const AxisInfoAnalysis &, ir::tt::LoadOp, const layouts::LinearLayout &);

/// Elements that a thread loads or stores by one access through a tensor of pointers, if that has the layout: those
/// that it has side by side and that lie so in memory, under one mask (null: none).
int64_t elementsPerAccess(const AxisInfoAnalysis &, ir::Value pointers, ir::Value mask, const layouts::Encoding *);

} // namespace tessera::transforms
