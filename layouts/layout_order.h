// Queries about a layout for passes and lowerings: which dimension runs fastest, how many elements a thread holds, how
// many of them in a row. Answered from the linear layout, so that they hold for every kind of encoding.
#pragma once
#include "layouts/encoding.h"
#include "layouts/linear_layout.h"
#include <optional>

namespace tessera::layouts {

/// Tensor dimensions from the fastest, by the first basis of `in` that moves along each; those that none moves along
/// follow, last dimension first. @pre the outputs are dim0, dim1, …
llvm::SmallVector<int32_t, 4> orderOf(const LinearLayout &, Dim in);
/// The order in which a distributed layout walks a tensor: by registers, then lanes, then warps.
llvm::SmallVector<int32_t, 4> orderOf(const LinearLayout &);
/// The order in which a buffer for the tensor is best stored: as orderOf by registers and lanes, but the fastest
/// dimension is that of a thread's consecutive elements, else of the lanes' (a fragment's first register may move by
/// rows).
llvm::SmallVector<int32_t, 4> storageOrderOf(const LinearLayout &);
/// Likewise; a blocked encoding says it.
llvm::SmallVector<int32_t, 4> storageOrderOf(const Encoding *, const LinearLayout &);

/// Registers that hold an element each, copies included.
int32_t elementsPerThread(const LinearLayout &);
/// The same for a distributed encoding; none if it has no layout for the shape.
std::optional<int64_t> elementsPerThread(const Encoding *, llvm::ArrayRef<int64_t> shape);
/// Registers that hold different elements.
int32_t uniqueElementsPerThread(const LinearLayout &);
/// How many consecutive elements along a dimension a thread's first registers hold: the first basis of a register is 1
/// along it, the next 2, ….
int64_t consecutiveElements(const LinearLayout &, unsigned dim);

} // namespace tessera::layouts
