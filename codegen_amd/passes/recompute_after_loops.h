// Recomputes indices after loops with matrix instructions (see recompute_after_loops.cpp).
#pragma once
#include "ir/tuning.h"

namespace llvm {
class Pass;
}

namespace tessera::amd {

/// A pass on machine functions in SSA form. The caller owns it; the numbers must outlive it.
llvm::Pass *createRecomputeAfterLoops(const ir::Tuning &);

} // namespace tessera::amd
