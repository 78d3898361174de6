// How layouts follow each other through operations that rename elements, so that no data moves. Blocked layouts stay
// blocked where they can; null means that no layout of the result lets every thread keep its elements.
#pragma once
#include "layouts/encoding_pool.h"

namespace tessera::layouts {

/// Result of a transposition: result dimension i is source dimension order[i].
const Encoding *inferTrans(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> order,
                           llvm::ArrayRef<int64_t> srcShape);
/// Result of a row-major reshape: a linear layout in which each thread keeps its registers.
const Encoding *inferReshape(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape,
                             llvm::ArrayRef<int64_t> dstShape);
/// Result of tt.join: a new last dimension of 2, held by one thread.
const Encoding *inferJoin(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape);
/// The layout whose tt.join gives nothing new: operand layout of tt.split's result, or null if the last dimension is
/// not held by one thread.
const Encoding *inferSplit(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape);

} // namespace tessera::layouts
