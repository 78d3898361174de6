// What tritongpu-remove-layout-conversions must know of values and layouts before it moves a conversion.
#pragma once
#include "ir/ops.h"
#include "layouts/encoding.h"

namespace tessera::transforms {

/// Whether a value's layout comes before another one where both could be had: that of a matrix instruction's result, or
/// a slice of one, before those that are none. A dot's result is what costs most to convert.
bool isStronger(const layouts::Encoding *, const layouts::Encoding *other);

/// How many elements there were before broadcasts made the value larger: so many must be converted to have it in
/// another layout. 1 for what is computed from ranges, splats and constants alone, which can be had in any layout from
/// the start.
int64_t elementsBeforeBroadcasts(ir::Value);

/// The loops around the place where a value can be converted at the earliest, before new dimensions and broadcasts.
unsigned loopsAroundSource(ir::Value);

/// Whether the layout of a narrow value spreads the elements that a broadcast makes of it over the threads as well as
/// the result's own layout does. The layout of a column, say, gives every thread whole rows of the result.
bool spreadsBroadcast(ir::tt::BroadcastOp, const layouts::Encoding *);

} // namespace tessera::transforms
