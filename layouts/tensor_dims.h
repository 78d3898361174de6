// The dimensions of a tensor as those of a linear layout, in the tensor's order.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::layouts {

/// dim0, dim1, … of a tensor of so many dimensions.
inline llvm::SmallVector<Dim, 4> tensorDims(unsigned rank) {
  llvm::SmallVector<Dim, 4> dims;
  for (unsigned i = 0; i < rank; ++i) dims.push_back(tensorDim(i));
  return dims;
}

} // namespace tessera::layouts
