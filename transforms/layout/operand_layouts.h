// From the layout of a result back to the layouts of what it is computed from: the layouts in which an operation's
// tensors must come so that no data moves between threads.
#pragma once
#include "ir/operation.h"
#include "layouts/encoding_pool.h"

namespace tessera::transforms {

/// The layout of the tensor operands of a layout conversion or of an operation that rearranges elements (broadcast,
/// expand_dims, trans, reshape, join; a scan of one tensor), from which its result gets layout `e`. Null if there is
/// none, and for other operations.
const layouts::Encoding *operandLayoutFor(layouts::EncodingPool &, ir::Operation *, const layouts::Encoding *e);

/// Whether a `tt.elementwise_inline_asm` gets groups of `packed_element` consecutive elements in layout `e`, along the
/// same dimension as in layout `now` if it gets such groups there. True for all other operations. `now` may be null.
bool keepsPackedElements(ir::Operation *, const layouts::Encoding *e, const layouts::Encoding *now);

/// Whether each group of `pack` elements that a thread's registers hold in layout `e` is of neighbours in row-major
/// order, as `tt.map_elementwise` takes them.
bool holdsPacks(ir::TensorType, const layouts::Encoding *e, int64_t pack);

/// Whether a tensor can be computed in layout `e` from copies to shared memory that each thread reads by whole words:
/// in the body of a loop, by pure operations, through rearrangements too, from one tensor that the body loads and from
/// much narrower ones. `narrowFraction`: these have at most this fraction (1 / n) of the tensor's elements. False for a
/// load that is only rearranged.
bool isComputedFromWords(ir::Value, const layouts::Encoding *e, ir::Block *body, int64_t narrowFraction);

} // namespace tessera::transforms
