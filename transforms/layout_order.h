// In which order the elements of a distributed tensor lie close to each other.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::transforms {

/// The dimensions by how close a thread's (then the lanes') elements lie along them, fastest first.
llvm::SmallVector<int32_t, 4> orderOf(const layouts::LinearLayout &);

} // namespace tessera::transforms
